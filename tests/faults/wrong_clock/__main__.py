"""A worker whose clock is wrong by so many seconds: `python -m tests.faults.wrong_clock 18000`.

It is a package because each child of a worker would import a module of any other name again.
"""

import sys
import time

from service.jobs.__main__ import main


def shift(seconds: float) -> None:
    """Have the clock of this process go wrong."""
    true, true_ns = time.time, time.time_ns
    time.time = lambda: true() + seconds
    time.time_ns = lambda: true_ns() + int(seconds * 1e9)


if __name__ == "__main__":
    shift(float(sys.argv[1]))
    main()
