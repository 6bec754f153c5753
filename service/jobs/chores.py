"""Chores: threads of the worker that do small things beside its jobs."""

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Thread

from service.errors import BoughError
from service.jobs.stop import Stop

logger = logging.getLogger(__name__)


@contextmanager
def doing(name: str, chore: Callable[[], bool], pause: float, stop: Stop) -> Iterator[None]:
    """A block in which a chore is done again and again, with a pause when it had nothing to do.

    The end of the block does not wait for long: whatever is cut off is taken up by somebody else.
    """
    thread = Thread(target=_repeat, args=(name, chore, pause, stop), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        thread.join(1.0)


def _repeat(name: str, chore: Callable[[], bool], pause: float, stop: Stop) -> None:
    while not stop.is_set:
        try:
            went = chore()
        except BoughError:  # the database is away, or something was deleted meanwhile
            went = False
        except Exception:
            logger.exception("chore broke", extra={"chore": name})
            went = False
        if not went:
            stop.wait(pause)
