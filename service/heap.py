"""The heap: memory that is given back is kept for the next large body, or the next branch."""

import ctypes

# Of glibc's mallopt: how much may lie free at the end before it goes back to the system, from which
# size on memory comes from the system directly, and how many heaps there are for all threads.
TRIM_THRESHOLD, MMAP_THRESHOLD, ARENA_MAX = -1, -3, -8
KEPT = 64 * 1024 * 1024
LARGEST = 32 * 1024 * 1024  # as much as glibc allows


def keep_memory() -> None:
    """Have this process keep memory that it will soon want again; all stays as it is without glibc.

    The system hands out empty pages only, and to have them anew takes its time: a third of that of
    10,000 rows to predict, and as much of a training whose nulls are divided. Threads share one
    heap, or each of them would keep as much.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        for option, value in (
            (ARENA_MAX, 1),
            (MMAP_THRESHOLD, LARGEST),
            (TRIM_THRESHOLD, KEPT),
        ):
            mallopt(option, value)
