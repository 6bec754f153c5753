"""The worker's loop: reap, claim, have it trained, settle; back off when there is nothing to do.

Only this process writes the state of jobs. It survives whatever one job does, and a database
that is away; what it cannot settle, the next owner of the lease will.
"""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from math import inf
from threading import Event, Thread
from typing import TypeVar

from service.actions.train import Trained, train
from service.errors import BoughError, LeaseLost, Unavailable
from service.jobs import problems
from service.jobs.attend import (
    Cancelled,
    Crashed,
    Outcome,
    Patience,
    Stopped,
    TimedOut,
    follow,
    started,
)
from service.jobs.child import Broken, Done, Entry, Order, Refused
from service.jobs.contact import Contact
from service.jobs.courier import delivering
from service.jobs.stop import Stop
from service.settings import Settings
from service.storage import jobs
from service.storage.engine import Session, Store
from service.storage.records import Claim, Progress
from service.storage.retention import forget
from service.storage.versions import save_version

SHORTEST_PAUSE = 0.05
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Worker:
    """All that a worker works with."""

    store: Store
    settings: Settings
    stop: Stop
    owner: str
    entry: Entry = train
    contact: Contact = field(default_factory=Contact)


def work(worker: Worker) -> None:
    """Take up one job after the other until told to stop."""
    logger.info("worker started", extra={"owner": worker.owner})
    with delivering(worker.store, worker.settings, worker.stop):
        _take_up_jobs(worker)
    logger.info("worker stopped", extra={"owner": worker.owner})


def _take_up_jobs(worker: Worker) -> None:
    pause = SHORTEST_PAUSE
    while not worker.stop.is_set:
        claim = _next(worker)
        if claim is None:
            worker.stop.wait(pause)
            pause = min(2 * pause, worker.settings.poll_seconds)
            continue
        run_job(worker, claim)
        pause = SHORTEST_PAUSE


def run_job(worker: Worker, claim: Claim) -> None:
    """Have a claimed job trained, and write how it ended."""
    told = {"job": claim.job_id, "model": claim.model, "attempt": claim.attempt}
    logger.info("job claimed", extra=told)
    try:
        outcome = _train(worker, claim)
        _settle(worker, claim, outcome)
    except LeaseLost:
        logger.warning("job lost to another worker", extra=told)
    except Unavailable:
        logger.warning("job left to the next worker, the database is away", extra=told)
    except Exception as error:
        logger.exception("job broke", extra=told)
        _give_up(worker, claim, type(error).__name__)
    else:
        logger.info("job settled", extra=told | {"outcome": type(outcome).__name__.lower()})


def _next(worker: Worker) -> Claim | None:
    """The next job, now ours; None if there is none, or no database."""
    lease = worker.settings.lease_seconds
    may_reap = worker.contact.lasts(lease)
    try:
        with worker.store.writing() as session:
            if may_reap and (reaped := jobs.reap(session)):
                logger.warning("jobs had lost their worker", extra={"jobs": reaped})
            if worker.settings.keep_jobs_seconds:
                forget(session, worker.settings.keep_jobs_seconds)
            claim = jobs.claim(session, worker.owner, lease)
    except Unavailable:
        logger.warning("the database does not answer")
        worker.contact.is_lost()
        return None
    worker.contact.is_kept()
    return claim


def _train(worker: Worker, claim: Claim) -> Outcome:
    settings = worker.settings
    with worker.store.reading() as session:
        body = jobs.fetch_input(session, claim.job_id)
    memory = _bound(claim.limits.memory_bytes, settings.job_memory_bytes)
    order = Order(worker.entry, body, settings.max_nodes, settings.log_level, int(memory))
    seconds = _bound(claim.limits.seconds, settings.job_seconds)
    patience = Patience(settings.heartbeat_seconds, seconds or inf)
    renew = partial(_renew, worker, claim)
    with started(order) as child:
        outcome = follow(child, renew, patience, worker.stop)
    # Tells that the saving begins; and what is no longer ours to save is not saved in vain.
    if isinstance(outcome, Done) and renew(_saving(outcome.trained)):
        return Cancelled()
    return outcome


def _bound(asked: float | None, allowed: float) -> float:
    """The smaller of the job's limit and the setting, which may have changed since; 0: none."""
    return min((limit for limit in (asked, allowed) if limit), default=0)


def _saving(trained: Trained) -> Progress:
    return Progress(1.0, "save", len(trained.tree))


def _renew(worker: Worker, claim: Claim, progress: Progress) -> bool:
    """Whether to cancel; if the database is away we go on, and the next renewal will tell."""
    try:
        with worker.store.writing() as session:
            is_cancelled = jobs.renew(session, claim, progress, worker.settings.lease_seconds)
    except Unavailable:
        worker.contact.is_lost()
        return False
    worker.contact.is_kept()
    return is_cancelled


def _settle(worker: Worker, claim: Claim, outcome: Outcome) -> None:
    match outcome:
        case Done(trained):
            _save(worker, claim, trained)
        case Refused(problem):
            _write(worker, lambda session: jobs.fail(session, claim, problem, retry=False))
        case Broken(kind):
            told = problems.broken(kind)
            _write(worker, lambda session: jobs.fail(session, claim, told, retry=True))
        case TimedOut(seconds):
            told = problems.timed_out(seconds)
            _write(worker, lambda session: jobs.fail(session, claim, told, retry=False))
        case Crashed(exit_code):
            told = problems.crashed(exit_code)
            _write(worker, lambda session: jobs.fail(session, claim, told, retry=True))
        case Cancelled():
            _write(worker, lambda session: jobs.cancelled(session, claim))
        case Stopped():
            _write(worker, lambda session: jobs.release(session, claim))


def _save(worker: Worker, claim: Claim, trained: Trained) -> None:
    """Save version, nodes and the job's end in one transaction: all of it or nothing."""

    def save(session: Session) -> None:
        number = save_version(session, claim.job_id, trained.draft, trained.tree)
        jobs.finish(session, claim, number)

    with _renewed_meanwhile(worker, claim, _saving(trained)):
        _write(worker, save)


@contextmanager
def _renewed_meanwhile(worker: Worker, claim: Claim, progress: Progress) -> Iterator[None]:
    """A block in which the lease is renewed by a thread, as we ourselves are busy."""
    done = Event()

    def keep() -> None:
        while not done.wait(worker.settings.heartbeat_seconds):
            try:
                _renew(worker, claim, progress)
            except LeaseLost:  # or the job has just been finished
                return

    thread = Thread(target=keep, name="lease")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _write(worker: Worker, action: Callable[[Session], Result]) -> Result:
    """What the action gives, as soon as the database answers."""
    while True:
        try:
            with worker.store.writing() as session:
                return action(session)
        except Unavailable:
            worker.contact.is_lost()
            if worker.stop.wait(worker.settings.poll_seconds):
                raise


def _give_up(worker: Worker, claim: Claim, kind: str) -> None:
    told = problems.broken(kind)
    try:
        _write(worker, lambda session: jobs.fail(session, claim, told, retry=True))
    except BoughError:
        logger.warning("job left to the next worker", extra={"job": claim.job_id})
