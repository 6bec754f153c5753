"""How gunicorn runs the web application, set up by the environment.

What was measured for it is in docs/decisions.md. GUNICORN_CMD_ARGS has the last word.
"""

import os
import signal
import sys
from time import monotonic
from typing import Any

from gunicorn.glogging import Logger
from gunicorn.workers.gthread import ThreadWorker

from service.heap import keep_memory
from service.logs import logging_config
from service.settings import read_settings
from service.web.at_once import answer_at_once
from service.web.board import Board, share_out
from service.web.context import EXTENSION, IS_LEAVING, Context
from service.web.patience import be_patient

_settings = read_settings(os.environ)
_board = Board()
_MEMORY = "/dev/shm"
FAREWELL = 2.0  # seconds in which clients may still use a connection that they keep
GLANCE = 0.05  # seconds between two looks whether they all have left

wsgi_app = "service.wsgi:app"
bind = [_settings.address]
workers = _settings.web_workers
worker_class = "gthread"
threads = _settings.web_threads
keepalive = 75  # seconds; longer than the 60 of most proxies, so that they are the ones to hang up
timeout = 120
graceful_timeout = 30
preload_app = True  # workers share what is imported, and are there at once
worker_tmp_dir = _MEMORY if os.access(_MEMORY, os.W_OK) else None  # a disk may hold a heartbeat up
control_socket_disable = True  # it lies in the home directory, where two services would meet
logconfig_dict = logging_config(_settings.log_level)
# gunicorn gives its logger a handler of its own first; naming the logger here replaces it.
logconfig_dict["loggers"]["gunicorn.error"] = {"handlers": ["stderr"], "propagate": False}


class logger_class(Logger):  # type: ignore[misc]  # noqa: N801 (gunicorn's name for it)
    """Tells of gunicorn itself; of requests the web does."""

    def exception(self, message: str, *arguments: object, **more: Any) -> None:
        """Tells what broke; that a client was given up is no error."""
        if isinstance(sys.exc_info()[1], BlockingIOError):
            self.info("a client was given up: nothing came, or nothing was read")
        else:
            super().exception(message, *arguments, **more)

    def access(self, *_told: object) -> None:
        """Says nothing, in next to no time: what it would say is made before it is thrown away."""


def post_worker_init(worker: Any) -> None:
    """Makes the app one of this process, before it answers anything."""
    keep_memory()
    for listener in worker.sockets:
        be_patient(listener, _settings.read_seconds)
    context: Context = worker.wsgi.extensions[EXTENSION]
    context.store.forget()
    context.warmth.start()
    if isinstance(worker, ThreadWorker):
        _leave_the_silent(worker)
        share_out(worker, _board)
        answer_at_once(worker, worker.wsgi.wsgi_app)
    is_leaving = _part_in_peace(worker) if isinstance(worker, ThreadWorker) else lambda: False
    # so that streams do not hold it up
    worker.wsgi.config[IS_LEAVING] = lambda: is_leaving() or not worker.alive


def child_exit(_server: Any, worker: Any) -> None:
    """Forgets the clients of a process that has ended, however it did."""
    _board.wipe(worker.age)


def pre_exec(server: Any) -> None:
    """Starts the successor (SIGUSR2) as we were started; by its file it would not find itself."""
    server.START_CTX["args"] = [sys.executable, "-P", "-m", "gunicorn", *sys.argv[1:]]


def _leave_the_silent(worker: ThreadWorker) -> None:
    """Has a worker that is to end wait for nobody who has not asked; gunicorn itself would."""
    give_up = worker.murder_pending

    def give_up_sooner() -> None:
        for silent in () if worker.alive else worker.pending_conns:
            silent.timeout = 0.0
        give_up()

    worker.murder_pending = give_up_sooner


def _part_in_peace(worker: ThreadWorker) -> Any:
    """Tells whether the worker was told to end; it then first lets its clients know.

    By itself it would close the connections that clients keep, while requests may be on their way.
    So it goes on for a moment, and each answer says that it is the last one on its connection.
    """
    told: list[float] = []  # when it was told to

    def end_if_all_have_left(*_: object) -> None:
        if worker.nr_conns == 0 or monotonic() > told[0] + FAREWELL:
            signal.setitimer(signal.ITIMER_REAL, 0)
            worker.handle_exit(signal.SIGTERM, None)

    def begin_to_leave(*_: object) -> None:
        if not told:
            told.append(monotonic())
            _board.leave(worker.age)
            worker.max_keepalived = 0  # from now on every answer says `Connection: close`
            signal.setitimer(signal.ITIMER_REAL, GLANCE, GLANCE)
            end_if_all_have_left()

    signal.signal(signal.SIGALRM, end_if_all_have_left)
    signal.signal(signal.SIGTERM, begin_to_leave)
    for each in (signal.SIGALRM, signal.SIGTERM):
        signal.siginterrupt(each, False)
    return lambda: bool(told)
