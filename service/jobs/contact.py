"""How long the database has answered: only who knows that may take a lease for lost.

When the database was away, or this process was stopped, every lease may have run out, though the
workers that hold them are well. They renew them within a heartbeat, so one lease is long enough.
The same holds when we have waited for a lock: they may have waited for it too.
"""

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from math import inf
from typing import TypeVar

from service.errors import NoRoom, Unavailable
from service.storage.engine import Session

Result = TypeVar("Result")
logger = logging.getLogger(__name__)


@dataclass
class Contact:
    """Since when the database has answered without a break, and when it last did."""

    since: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)

    def is_kept(self) -> None:
        """Note that the database has answered."""
        self.last = time.monotonic()

    def is_lost(self, why: Unavailable) -> None:
        """Note that the database did not answer."""
        logger.warning("the database does not answer", extra={"why": type(why).__name__})
        self._begins()

    def lasts(self, seconds: float) -> bool:
        """Whether it has answered for so long, never silent for half of that."""
        # Half, because a lease may be a heartbeat old already when the silence begins.
        if time.monotonic() - self.last >= seconds / 2:
            self._begins()
        return time.monotonic() - self.since >= seconds

    def _begins(self) -> None:
        self.since = self.last = time.monotonic()


def insist(
    opened: Callable[[], AbstractContextManager[Session]],
    action: Callable[[Session], Result],
    contact: Contact,
    give_up: Callable[[], bool],
    room_seconds: float = inf,
) -> Result:
    """What the action gives, as soon as the database answers and, within that time, has room."""
    end = time.monotonic() + room_seconds
    while True:
        try:
            with opened() as session:
                return action(session)
        except Unavailable as error:
            contact.is_lost(error)
            is_hopeless = isinstance(error, NoRoom) and time.monotonic() > end
            if is_hopeless or give_up():
                raise
