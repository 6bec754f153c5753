"""The worker's loop: reap, claim, have it trained, settle; back off when there is nothing to do.

Only this process writes the state of jobs. It survives whatever one job does, and a database
that is away; what it cannot settle, the next owner of the lease will.
"""

import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import TypeVar

from service.actions.results import Scored, Trained
from service.actions.sweep import sweep
from service.errors import BoughError, LeaseLost, NoRoom, NotFound, Unavailable
from service.jobs import problems
from service.jobs.attend import (
    Cancelled,
    Crashed,
    Outcome,
    Patience,
    Stopped,
    TimedOut,
    follow,
    renewed,
    started,
)
from service.jobs.child import Broken, Done, Entry, Order, Refused
from service.jobs.chores import doing
from service.jobs.contact import Contact, insist
from service.jobs.courier import delivering
from service.jobs.kinds import PREPARE, abandon, save, saving
from service.jobs.stop import Stop
from service.points import passing
from service.settings import Settings
from service.storage import jobs
from service.storage.engine import Session, Store
from service.storage.records import Claim, Progress
from service.storage.retention import forget

SHORTEST_PAUSE = 0.05
SWEEP_SECONDS = 30.0
Result = TypeVar("Result")
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Worker:
    """All that a worker works with."""

    store: Store
    settings: Settings
    stop: Stop
    owner: str
    entry: Entry | None = None  # what the child runs; None: what the kind of the job asks for
    contact: Contact = field(default_factory=Contact)

    @property
    def heartbeat_seconds(self) -> float:
        """How often a lease is renewed: in any case well before it runs out."""
        return min(self.settings.heartbeat_seconds, self.settings.lease_seconds / 3)

    @property
    def poll_seconds(self) -> float:
        """How often the database is asked: so often that contact can last for a lease."""
        return min(self.settings.poll_seconds, self.settings.lease_seconds / 3)

    def pauses(self) -> bool:
        """Whether it was told to stop, at the latest after a pause."""
        return self.stop.wait(self.poll_seconds)


def work(worker: Worker) -> None:
    """Take up one job after the other until told to stop."""
    logger.info("worker started", extra={"owner": worker.owner})
    tidy = partial(_sweep, worker)
    with (
        delivering(worker.store, worker.settings, worker.stop),
        doing("sweeper", tidy, SWEEP_SECONDS, worker.stop),
    ):
        _take_up_jobs(worker)
    logger.info("worker stopped", extra={"owner": worker.owner})


def _sweep(worker: Worker) -> bool:
    return sweep(worker.store, worker.settings) > 0


def _take_up_jobs(worker: Worker) -> None:
    pause = SHORTEST_PAUSE
    while not worker.stop.is_set:
        claim = _next(worker)
        if claim is None:
            worker.stop.wait(pause)
            pause = min(2 * pause, worker.poll_seconds)
            continue
        run_job(worker, claim)
        pause = SHORTEST_PAUSE


def run_job(worker: Worker, claim: Claim) -> None:
    """Have a claimed job trained, and write how it ended."""
    told = {"job": claim.job_id, "model": claim.model, "attempt": claim.attempt}
    logger.info("job claimed", extra=told)
    passing("worker-claimed")
    try:
        outcome = _train(worker, claim)
        _settle(worker, claim, outcome)
    except LeaseLost:
        logger.warning("job lost to another worker", extra=told)
        with suppress(BoughError):  # the place is away: a file is left that nobody needs
            abandon(worker.settings, claim)
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
    try:
        with worker.store.writing() as session:
            # asked when we are in, for we may have waited long for that
            if worker.contact.lasts(lease) and (reaped := jobs.reap(session)):
                logger.warning("jobs had lost their worker", extra={"jobs": reaped})
            if worker.settings.keep_jobs_seconds:
                forget(session, worker.settings.keep_jobs_seconds)
            claim = jobs.claim(session, worker.owner, lease)
    except Unavailable as error:
        worker.contact.is_lost(error)
        return None
    worker.contact.is_kept()
    return claim


def _train(worker: Worker, claim: Claim) -> Outcome:
    settings = worker.settings
    body = _read(worker, lambda session: jobs.fetch_input(session, claim.job_id))
    passing("worker-read")
    try:
        entry = worker.entry or PREPARE[claim.kind](worker.store, settings, claim, body)
    except NotFound as error:
        return Refused(problems.refused(error))
    memory = _bound(claim.limits.memory_bytes, settings.job_memory_bytes)
    order = Order(entry, body, settings.max_nodes, settings.log_level, int(memory))
    seconds = _bound(claim.limits.seconds, settings.job_seconds)
    patience = Patience(worker.heartbeat_seconds, seconds or inf)
    renew = partial(_renew, worker, claim)
    with started(order) as child:
        passing("worker-started")
        outcome = follow(child, renew, patience, worker.stop)
    passing("worker-received")
    # Tells that the saving begins; and what is no longer ours to save is not saved in vain.
    if isinstance(outcome, Done) and renew(saving(outcome.result)):
        return Cancelled()
    return outcome


def _bound(asked: float | None, allowed: float) -> float:
    """The smaller of the job's limit and the setting, which may have changed since; 0: none."""
    return min((limit for limit in (asked, allowed) if limit), default=0)


def _renew(worker: Worker, claim: Claim, progress: Progress) -> bool:
    """Whether to cancel; if the database is away we go on, and the next renewal will tell."""
    try:
        with worker.store.writing() as session:
            is_cancelled = jobs.renew(session, claim, progress, worker.settings.lease_seconds)
    except Unavailable as error:
        worker.contact.is_lost(error)
        return False
    worker.contact.is_kept()
    return is_cancelled


def _settle(worker: Worker, claim: Claim, outcome: Outcome) -> None:
    match outcome:
        case Done(result):
            _save(worker, claim, result)
        case Refused(problem, retry):
            _write(worker, lambda session: jobs.fail(session, claim, problem, retry=retry))
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


def _save(worker: Worker, claim: Claim, result: Trained | Scored) -> None:
    renew = partial(_renew, worker, claim, saving(result))
    with renewed(renew, worker.heartbeat_seconds):
        while not _is_settled(worker, claim, result):
            pass  # a disk so full that not even this could be told
    passing("worker-committed")


def _is_settled(worker: Worker, claim: Claim, result: Trained | Scored) -> bool:
    """Whether the result was kept, or it was told that there is no room for it."""
    try:
        # Somebody may make room; but a full disk may stay full, and other jobs wait.
        keep = partial(save, claim=claim, result=result)
        _write(worker, keep, room_seconds=worker.settings.lease_seconds)
    except NoRoom:
        return _is_left_unsaved(worker, claim)
    return True


def _is_left_unsaved(worker: Worker, claim: Claim) -> bool:
    def leave(session: Session) -> None:
        if worker.stop.is_set:  # we waited for less than we promise
            jobs.release(session, claim)
        else:
            jobs.fail(session, claim, problems.no_room(), retry=False)

    try:
        _write(worker, leave, room_seconds=0)
    except NoRoom:
        if worker.stop.is_set:
            raise
        return False
    return True


def _read(worker: Worker, action: Callable[[Session], Result]) -> Result:
    return insist(worker.store.reading, action, worker.contact, worker.pauses)


def _write(
    worker: Worker, action: Callable[[Session], Result], room_seconds: float = inf
) -> Result:
    return insist(worker.store.writing, action, worker.contact, worker.pauses, room_seconds)


def _give_up(worker: Worker, claim: Claim, kind: str) -> None:
    told = problems.broken(kind)
    try:
        _write(worker, lambda session: jobs.fail(session, claim, told, retry=True))
    except BoughError:
        logger.warning("job left to the next worker", extra={"job": claim.job_id})
