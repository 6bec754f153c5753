"""One computes at a time, and nobody waits for a client who has the turn."""

from collections.abc import Iterator
from threading import Event, Thread

from service.web.turns import Turns


def test_items_are_made_one_at_a_time_and_waited_for_in_between() -> None:
    turns, at_work, most = Turns(), [0], [0]

    def sent(n_chunks: int) -> Iterator[int]:
        yield from range(n_chunks)

    def made(chunks: Iterator[int]) -> Iterator[int]:
        for chunk in chunks:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
            Event().wait(0.001)
            at_work[0] -= 1
            yield chunk

    found: list[list[int]] = []
    threads = [
        Thread(target=lambda: found.append(list(turns.within(made(turns.without(sent(20)))))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=20)

    assert found == [list(range(20))] * 4
    assert most == [1]


def test_who_waits_for_a_client_leaves_the_turn_to_others() -> None:
    turns, came, begun = Turns(), Event(), Event()

    def slow() -> Iterator[int]:
        begun.set()
        came.wait(20)
        yield 1

    waiting = Thread(target=lambda: list(turns.within(turns.without(slow()))))
    waiting.start()
    begun.wait(20)

    assert list(turns.within(iter([7]))) == [7]
    came.set()
    waiting.join(timeout=20)
    assert not waiting.is_alive()


def test_an_error_gives_the_turn_back() -> None:
    turns = Turns()

    def broken() -> Iterator[int]:
        raise OSError

    for _ in range(2):
        try:
            list(turns.within(turns.without(broken())))
        except OSError:
            continue
    assert list(turns.within(iter([1]))) == [1]
