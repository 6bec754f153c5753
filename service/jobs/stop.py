"""The wish to stop, which a signal brings and every wait notices at once."""

import os
import signal
from multiprocessing.connection import wait


class Stop:
    """Set once and for all; its file descriptor becomes readable then."""

    def __init__(self) -> None:
        # A pipe, because an event cannot be waited for together with a child's messages.
        self._reader, self._writer = os.pipe()
        self.is_set = False

    def set(self) -> None:
        """Ask to stop."""
        if not self.is_set:
            self.is_set = True
            os.write(self._writer, b"!")

    def fileno(self) -> int:
        """What to wait on beside other things."""
        return self._reader

    def wait(self, seconds: float) -> bool:
        """Whether it was set, at the latest after so many seconds."""
        wait([self._reader], seconds)
        return self.is_set


def stop_on_signals() -> Stop:
    """A wish to stop that SIGTERM or Ctrl-C brings."""
    stop = Stop()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: stop.set())
    return stop
