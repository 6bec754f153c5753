"""Logs: one JSON object a line on stderr, from the web and from the worker alike.

Of an exception only its type and where it arose are told: its text may hold values of the data.
"""

import logging
import logging.config
import traceback
from collections import deque
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from threading import Event, Thread
from time import sleep, time
from typing import Any, TextIO

import orjson

MOMENT = 0.02  # seconds in which lines are gathered
MOST = 10_000  # lines that are
ORDINARY = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON, with everything that came in `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        more = {key: value for key, value in vars(record).items() if key not in ORDINARY}
        if record.exc_info and record.exc_info[0]:
            more["exception"] = record.exc_info[0].__name__
            more["trace"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(record.exc_info[2])
            ]
        return _line(record.created, record.levelname, record.name, record.getMessage(), more)


def _line(moment: float, level: str, logger: str, message: str, more: Mapping[str, Any]) -> str:
    told: dict[str, Any] = {
        "time": datetime.fromtimestamp(moment, UTC).isoformat(timespec="milliseconds"),
        "level": level,
        "logger": logger,
        "message": message,
    }
    return orjson.dumps({**told, **more}, default=str).decode()


class Lines(logging.StreamHandler[TextIO]):
    """Writes lines to stderr: records at once, others gathered for a moment, in order.

    To write is to let other threads go first, and to wait for them: not once for every request.
    """

    def __init__(self) -> None:
        super().__init__()
        self._gathered: deque[str] = deque()
        self._are_some = Event()
        self._writer: Thread | None = None

    def gather(self, line: str) -> None:
        """Have a line written soon, that is no record."""
        self._gathered.append(line)
        if len(self._gathered) > MOST or not self._has_writer():
            self._write_gathered()  # now: who logs has to wait as long as nobody reads
        elif not self._are_some.is_set():
            self._are_some.set()

    def _has_writer(self) -> bool:
        if self._writer is None or not self._writer.is_alive():  # as after a fork
            self._writer = Thread(target=self._write_on, name="log", daemon=True)
            with suppress(RuntimeError):  # there can be no more threads, or we are about to end
                self._writer.start()
        return self._writer.is_alive()

    def emit(self, record: logging.LogRecord) -> None:
        """Write a record, after all that was gathered before it."""
        self._write_gathered()
        super().emit(record)

    def flush(self) -> None:
        """Write what was gathered; called when the process ends, too."""
        self._write_gathered()
        super().flush()

    def _write_gathered(self) -> None:
        self.acquire()
        try:
            lines = [self._gathered.popleft() for _ in range(len(self._gathered))]
            with suppress(OSError, ValueError):  # who logs goes on in any case
                self.stream.write("".join(line + self.terminator for line in lines))
                if lines:
                    self.stream.flush()
        finally:
            self.release()

    def _write_on(self) -> None:
        while self._are_some.wait():
            sleep(MOMENT)
            if not self._gathered:  # while there are always some, nobody need wake this thread
                self._are_some.clear()
            self._write_gathered()  # also what came before that was clear


def info(log: logging.Logger, message: str, fields: Mapping[str, Any]) -> None:
    """Log what is logged all the time, without a record if nobody but ourselves would see it."""
    handlers = logging.root.handlers
    if len(handlers) == 1 and isinstance(handlers[0], Lines) and log.isEnabledFor(logging.INFO):
        handlers[0].gather(_line(time(), "INFO", log.name, message, fields))
    else:
        log.info(message, extra=fields)


def logging_config(level: str) -> dict[str, Any]:
    """What `logging.config` is to do: everything from this level on goes to stderr as JSON."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"()": Lines, "formatter": "json"}},
        "root": {"level": level.upper(), "handlers": ["stderr"]},
        # Told by our own lines already.
        "loggers": {"alembic": {"level": "WARNING"}},
    }


def configure_logging(level: str) -> None:
    """Make this process log from this level on."""
    logging.config.dictConfig(logging_config(level))
