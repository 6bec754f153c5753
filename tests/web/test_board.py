"""The board: new clients come to the process that has fewest."""

from dataclasses import dataclass
from typing import Any

from service.web.board import Board, share_out


@dataclass
class Worker:
    """A process as gunicorn has it, which takes every client that is there."""

    age: int
    nr_conns: int = 0

    def accept(self, _listener: Any) -> None:
        self.nr_conns += 1


def test_who_has_more_clients_than_another_is_ahead() -> None:
    board = Board()
    board.note(1, 2)
    board.note(2, 1)

    assert board.is_ahead(1)
    assert not board.is_ahead(2)
    board.note(2, 2)
    assert not board.is_ahead(1)


def test_nobody_waits_for_those_who_leave_or_are_gone() -> None:
    board = Board()
    board.note(1, 2)
    board.note(2, 0)
    board.leave(2)
    board.note(2, 1)
    assert not board.is_ahead(1)

    board.wipe(2)
    assert not board.is_ahead(1)
    board.note(2, 0)  # another one in its place
    assert board.is_ahead(1)


def test_a_process_alone_is_never_ahead() -> None:
    board, worker = Board(), Worker(age=7)
    share_out(worker, board)
    for _ in range(3):
        worker.accept(None)
    assert (worker.nr_conns, board.is_ahead(7)) == (3, False)
