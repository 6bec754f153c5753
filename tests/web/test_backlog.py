"""Answers that nobody has read yet are put aside, and come out as they went in."""

import socket
from collections import deque
from contextlib import contextmanager, suppress
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import LimitReached, NoRoom
from service.web import backlog
from service.web.backlog import Backlog, collected, flowing, readiness

FULL = Path("/dev/full")  # the disk on which there is never any room
PIECES = st.lists(st.binary(min_size=1, max_size=30), max_size=20)


@contextmanager
def spooled():
    yield BytesIO()


@given(st.lists(st.one_of(st.binary(max_size=30), st.integers(1, 40))))
def test_what_went_in_first_comes_out_first(steps: list[bytes | int]) -> None:
    expected: deque[int] = deque()
    with pytest.MonkeyPatch.context() as patch, Backlog(spooled, 10**6) as held:
        patch.setattr(backlog, "IN_MEMORY", 50)
        for step in steps:
            if isinstance(step, bytes):
                held.add(step)
                expected.extend(step)
            elif expected:
                taken = held.take(step)
                assert 0 < len(taken) <= step
                assert taken == bytes(expected.popleft() for _ in taken)
            assert held.n_bytes == len(expected)


@given(PIECES, st.lists(st.booleans(), max_size=40))
def test_all_pieces_flow_whoever_is_ready_when(pieces: list[bytes], ready: list[bool]) -> None:
    answers = iter(ready)
    with pytest.MonkeyPatch.context() as patch, Backlog(spooled, 10**6) as held:
        patch.setattr(backlog, "IN_MEMORY", 50)
        flown = list(flowing(pieces, held, lambda: next(answers, False)))

    assert b"".join(flown) == b"".join(pieces)


def test_whoever_is_not_ready_is_read_on_all_the_same() -> None:
    pieces = iter([b"a", b"b", b"c"])
    with Backlog(spooled, 10**6) as held:
        flown = flowing(pieces, held, lambda: False)

        assert next(flown) == b"a"
        assert list(pieces) == []
        assert b"".join(flown) == b"bc"


def test_beyond_the_limit_a_stream_waits_and_a_whole_is_refused() -> None:
    with Backlog(spooled, 2) as held:
        pieces = iter([b"aa", b"bb", b"cc"])
        assert next(flowing(pieces, held, lambda: False)) == b"aa"
        assert list(pieces) == [b"cc"]
    with Backlog(spooled, 2) as held, pytest.raises(LimitReached, match="BOUGH_MAX_BULK_BYTES"):
        collected([b"aa", b"bb"], held)


def test_a_full_disk_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "IN_MEMORY", 1)
    with (
        FULL.open("r+b", buffering=0) as full,
        Backlog(lambda: nothing_left(full), 10**6) as held,
        pytest.raises(NoRoom),
    ):
        held.add(b"aa")


@contextmanager
def nothing_left(file):
    yield file


def test_a_client_is_ready_until_it_does_not_read() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        is_ready = readiness(ours)
        assert is_ready()
        ours.setblocking(False)
        with suppress(BlockingIOError):
            while True:
                ours.send(b"x" * 65536)
        assert not is_ready()
    assert readiness(None)()
