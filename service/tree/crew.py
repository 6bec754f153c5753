"""The threads that help with growing, kept because starting them takes long."""

from concurrent.futures import ThreadPoolExecutor
from threading import Lock, Thread, current_thread

N_THREADS = 2
SECONDS = 0.05  # between two looks at how far they are, of one who waits

_kept: dict[int, tuple[ThreadPoolExecutor, Thread]] = {}
_lock = Lock()


def crew(n_threads: int = N_THREADS) -> ThreadPoolExecutor:
    """So many threads; new ones after a fork, which takes none along."""
    with _lock:
        if n_threads not in _kept or not _kept[n_threads][1].is_alive():
            pool = ThreadPoolExecutor(n_threads, thread_name_prefix="crew")
            _kept[n_threads] = pool, pool.submit(current_thread).result()
        return _kept[n_threads][0]


def dismiss() -> None:
    """Ends all threads: a process that is going to fork must have none."""
    with _lock:
        for pool, _thread in _kept.values():
            pool.shutdown()
        _kept.clear()
