"""How long the database has answered: only who knows that may take a lease for lost.

When the database was away, or this process was stopped, every lease may have run out, though the
workers that hold them are well. They renew them within a heartbeat, so one lease is long enough.
"""

import time
from dataclasses import dataclass, field


@dataclass
class Contact:
    """Since when the database has answered without a break, and when it last did."""

    since: float = field(default_factory=time.monotonic)
    last: float = field(default_factory=time.monotonic)

    def is_kept(self) -> None:
        """Note that the database has answered."""
        self.last = time.monotonic()

    def is_lost(self) -> None:
        """Note that the database did not answer."""
        self.since = self.last = time.monotonic()

    def lasts(self, seconds: float) -> bool:
        """Whether it has answered for so long, never silent for as long as that."""
        if time.monotonic() - self.last >= seconds:
            self.is_lost()
        return time.monotonic() - self.since >= seconds
