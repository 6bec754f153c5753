"""Names: known for less than a second, asked for by one at a time."""

from collections.abc import Callable
from threading import Barrier, Event, Thread

import pytest

from service.actions.names import MOST, SECONDS, Names, Selected
from service.errors import NotFound, Unavailable
from service.storage.records import VersionKey

FIRST, SECOND = (1, "a job"), (2, "another")
MELONS: Selected = ("melons", None)


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Store:
    """Tells what a name means at the moment, and counts who asks."""

    def __init__(self, meant: VersionKey | Exception = FIRST) -> None:
        self.meant = meant
        self.asked = 0

    def __call__(self) -> VersionKey:
        self.asked += 1
        if isinstance(self.meant, Exception):
            raise self.meant
        return self.meant


def test_what_is_meant_is_asked_for_before_it_is_a_second_old() -> None:
    clock, store = Clock(), Store()
    names = Names(clock)

    assert names.fresh(MELONS) is None
    assert names.find(MELONS, store) == FIRST
    clock.now += 0.99 * SECONDS
    assert names.fresh(MELONS) == names.find(MELONS, store) == FIRST
    assert store.asked == 1

    store.meant = SECOND
    clock.now += 0.02 * SECONDS
    assert SECONDS < 0.9  # what it takes to answer comes on top
    assert names.fresh(MELONS) is None
    assert names.find(MELONS, store) == SECOND
    assert store.asked == 2


def test_a_name_is_as_old_as_the_question_and_not_as_the_answer() -> None:
    clock = Clock()
    names = Names(clock)

    def slow() -> VersionKey:
        clock.now += 0.7
        return FIRST

    names.find(MELONS, slow)
    clock.now += 0.4

    assert names.fresh(MELONS) is None


def test_what_is_gone_is_not_known_any_more() -> None:
    clock, store = Clock(), Store()
    names = Names(clock)
    names.find(MELONS, store)
    clock.now += 1
    store.meant = NotFound("gone")

    for _ in range(2):  # nor is it remembered that there is nothing: it may come at any time
        with pytest.raises(NotFound):
            names.find(MELONS, store)
    assert names.fresh(MELONS) is None
    assert store.asked == 3


def test_after_a_second_a_database_that_is_away_is_told() -> None:
    clock, store = Clock(), Store()
    names = Names(clock)
    names.find(MELONS, store)
    store.meant = Unavailable("away")
    assert names.find(MELONS, store) == FIRST
    clock.now += 1

    with pytest.raises(Unavailable, match="away"):
        names.find(MELONS, store)
    with pytest.raises(Unavailable, match="away"):
        names.find(MELONS, store)  # at once: it was tried a moment ago
    assert store.asked == 2
    clock.now += 0.2
    store.meant = SECOND
    assert names.find(MELONS, store) == SECOND


def test_of_many_who_ask_at_once_one_does_and_the_others_wait() -> None:
    names, store, asked = Names(), Store(), Event()
    ready = Barrier(9)
    found: list[VersionKey] = []

    def slowly() -> VersionKey:
        asked.wait(timeout=20)
        return store()

    def ask() -> None:
        ready.wait(timeout=20)
        found.append(names.find(MELONS, slowly))

    threads = [Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    ready.wait(timeout=20)
    asked.set()
    for thread in threads:
        thread.join(timeout=20)

    assert found == [FIRST] * 8
    assert store.asked == 1


def test_what_changes_here_is_asked_for_anew() -> None:
    names, store = Names(Clock()), Store()
    for selected in (MELONS, ("melons@champion", None), ("melons", 1), ("houses", None)):
        names.find(selected, store)
    names.forget("melons")

    assert names.fresh(("houses", None)) == FIRST
    assert names.fresh(MELONS) is names.fresh(("melons@champion", None)) is None
    assert names.fresh(("melons", 1)) is None


def test_not_more_than_so_many_names_are_kept() -> None:
    names = Names(Clock())
    found: Callable[[], VersionKey] = Store()
    for number in range(MOST + 1):
        names.find(("melons", number), found)

    assert names.fresh(("melons", 0)) is None
    assert names.fresh(("melons", MOST)) == FIRST


def test_who_had_to_wait_is_not_told_what_has_become_old() -> None:
    clock, store = Clock(), Store()
    names = Names(clock)
    names.find(MELONS, store)
    clock.now += 0.9
    came, waited = Event(), []

    def another() -> VersionKey:
        waiter.start()
        came.wait(timeout=20)
        clock.now += 2  # while this one is asked for
        return FIRST

    def wait() -> None:
        came.set()
        waited.append(names.find(MELONS, store))

    waiter = Thread(target=wait)
    store.meant = SECOND
    names.find(("other", None), another)
    waiter.join(timeout=20)

    assert waited == [SECOND]
