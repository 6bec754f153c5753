"""Server-sent events: a job, told again whenever it has changed, to whoever watches it.

A stream holds a thread of the web process, and there are few of them. So only some watchers have
a place and keep their stream for a while; the others are told how the job is, and come again.
"""

import select
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from socket import socket

import orjson

from service.errors import NotFound, Unavailable
from service.storage.records import Job
from service.web.places import Places

MEDIA_TYPE = "text/event-stream"
# A proxy that collects what comes would keep it back until the end.
HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
COME_AGAIN = b"retry: 1000\n\n"  # milliseconds after the end of a stream
ENDED = "ended"
LONGEST = 25.0  # seconds of one stream: gunicorn gives its last answers 30
QUIET = 10.0  # seconds after which a sign of life is due
PAUSE = 0.5  # seconds between two looks at the job


@dataclass(frozen=True)
class Watch:
    """What a stream works with."""

    fetch: Callable[[], Job]  # the job as it is now
    write: Callable[[Job], bytes]  # as JSON
    places: Places
    connection: socket | None  # to the client, where there is one
    is_leaving: Callable[[], bool]  # whether this process is to end


def name_of(job: Job) -> str:
    """The id of the event that tells this state of the job; that of its end is always `ended`."""
    if job.finished_at is not None:
        return ENDED
    state = asdict(job)
    del state["elapsed_seconds"]  # that time passes is no change
    return sha256(orjson.dumps(state)).hexdigest()[:16]


def event(kind: str, name: str, data: bytes) -> bytes:
    """One event; its data has no line breaks."""
    return b"event: %b\nid: %b\ndata: %b\n\n" % (kind.encode(), name.encode(), data)


def comment(text: str) -> bytes:
    """A line that every client skips."""
    return b": %b\n\n" % text.encode()


def stream(watch: Watch, job: Job, seen: str | None) -> Iterator[bytes]:
    """The job unless it was seen as it is, and what becomes of it while there is a place."""
    yield COME_AGAIN
    if name_of(job) != seen:
        yield _told(watch, job)
    # Taken here and not before: of a stream that is never begun nobody would give it back.
    if job.finished_at is not None or not watch.places.take_for_stream():
        return
    try:
        yield from _changes(watch, name_of(job))
    finally:
        watch.places.leave_stream()


def _changes(watch: Watch, seen: str) -> Iterator[bytes]:
    """Each new state of the job until its end, the client's or that of our patience."""
    if watch.connection is not None:
        watch.connection.settimeout(QUIET)  # who does not read is given up
    begun = spoken = time.monotonic()
    while seen != ENDED and time.monotonic() - begun < LONGEST:
        if watch.is_leaving() or _hangs_up(watch.connection):
            return
        seen, told = _look(watch, seen)
        if not told and time.monotonic() - spoken >= QUIET:
            told = comment("nothing new")
        if told:
            spoken = time.monotonic()
            yield told


def _look(watch: Watch, seen: str) -> tuple[str, bytes]:
    """What has been seen by now, and what there is to tell."""
    try:
        job = watch.fetch()
    except NotFound:  # it was deleted
        return ENDED, b""
    except Unavailable:
        return seen, comment("the database does not answer")
    name = name_of(job)
    return name, b"" if name == seen else _told(watch, job)


def _told(watch: Watch, job: Job) -> bytes:
    kind = "progress" if job.finished_at is None else ENDED
    return event(kind, name_of(job), watch.write(job))


def _hangs_up(connection: socket | None) -> bool:
    """Whether the client is gone; if not, a pause was made."""
    if connection is None:
        time.sleep(PAUSE)
        return False
    hang_up = select.poll()
    hang_up.register(connection, getattr(select, "POLLRDHUP", 0))
    return bool(hang_up.poll(PAUSE * 1000))
