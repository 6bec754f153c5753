"""The board: how many clients each process serves, so that new ones come to whom has fewest.

All processes hear of a client that comes, and whoever wakes first takes it: some processes would
have most of them, and others nothing to do. So who has more than another leaves it a moment.
"""

from mmap import mmap
from time import sleep
from typing import Any

MOST_PROCESSES = 64  # that are told apart; of more, some share a place
GONE, LEAVING = 0, -1  # instead of a number of clients, which is one more
A_MOMENT = 0.0005  # seconds, in which an idle process wakes up


class Board:
    """One number a process, seen by all that were forked from the one that made it."""

    def __init__(self) -> None:
        self._places = memoryview(mmap(-1, 4 * MOST_PROCESSES)).cast("i")

    def note(self, process: int, n_clients: int) -> None:
        """Says how many clients a process serves, unless it is leaving."""
        if self._places[process % MOST_PROCESSES] != LEAVING:
            self._places[process % MOST_PROCESSES] = n_clients + 1

    def leave(self, process: int) -> None:
        """Says that a process would rather have no more clients."""
        self._places[process % MOST_PROCESSES] = LEAVING

    def wipe(self, process: int) -> None:
        """Says that a process is gone."""
        self._places[process % MOST_PROCESSES] = GONE

    def is_ahead(self, process: int) -> bool:
        """Whether a process serves more clients than some other."""
        own = self._places[process % MOST_PROCESSES]
        return any(GONE < other < own for other in self._places)


def share_out(worker: Any, board: Board) -> None:
    """Have a worker of gunicorn with threads take its share of the clients only."""
    accept = worker.accept

    def accept_in_turn(listener: Any) -> None:
        board.note(worker.age, worker.nr_conns)
        if board.is_ahead(worker.age):
            sleep(A_MOMENT)
        accept(listener)
        board.note(worker.age, worker.nr_conns)

    worker.accept = accept_in_turn
    board.note(worker.age, 0)
