"""Warm models: what they mean is in memory before anybody asks for it, if it can be."""

from pathlib import Path

import pytest
from sqlalchemy import text

from service.actions.keep_warm import BROKEN, LATE, NO_ROOM, Warmth
from service.actions.memory import Memory
from service.errors import NotFound
from service.storage.aliases import put_alias
from service.storage.engine import Store, open_store
from service.storage.migrate import upgrade
from service.storage.models import fetch_model, set_warm, warm_versions
from tests.storage.trees import saved

PATIENCE = 5.0


class Place:
    """A web process's memory of a store, and who keeps it warm; its clock is set by hand."""

    def __init__(self, store: Store, max_bytes: int = 10**9) -> None:
        self.now = 0.0
        self.store = store
        self.memory = Memory(store, max_bytes)
        self.warmth = Warmth(store, self.memory, PATIENCE, lambda: self.now)
        self.warmth.begin()

    def look(self) -> "Place":
        self.warmth.look()
        return self

    @property
    def loaded(self) -> list[tuple[str, int]]:
        """The versions of warm models that are in memory."""
        with self.store.reading() as session:
            wanted = warm_versions(session)
        there = [each for each in wanted if self.memory.cache.peek(each.key) is not None]
        return [(each.model, each.number) for each in there]

    @property
    def told(self) -> list[tuple[str, int, str]]:
        """What is said to be cold."""
        return [(each.model, each.version, each.detail) for each in self.warmth.cold]


def mark(store: Store, *models: str) -> None:
    """Have models of two versions each that are warm."""
    with store.writing() as session:
        for model in models:
            for number in (1, 2):
                saved(session, f"{model} {number}", model)
            set_warm(session, model, warm=True)


def test_of_a_warm_model_the_newest_version_is_wanted_and_those_with_an_alias(store: Store) -> None:
    mark(store, "a", "b")
    with store.writing() as session:
        saved(session, "a 3", "a")
        saved(session, "c 1", "c")
        for model, alias, number in (("a", "x", 1), ("a", "y", 1), ("b", "x", 2), ("c", "x", 1)):
            put_alias(session, model, alias, number)
        wanted = warm_versions(session)

    assert [("a", 3), ("a", 1), ("b", 2)] == [(each.model, each.number) for each in wanted]
    assert ["a 3", "a 1", "b 2"] == [each.key[1] for each in wanted]


def test_a_model_is_marked_and_then_no_longer(store: Store) -> None:
    mark(store, "a")
    with store.reading() as session:
        before = fetch_model(session, "a")
    with store.writing() as session:
        set_warm(session, "a", warm=True)
        assert before == fetch_model(session, "a")
        set_warm(session, "a", warm=False)
        after = fetch_model(session, "a")
        assert () == warm_versions(session)

    assert (True, False) == (before.warm, after.warm)
    assert before.updated_at < after.updated_at


def test_what_is_warm_is_waited_for_until_it_is_loaded(sqlite_store: Store) -> None:
    mark(sqlite_store, "a", "b")
    place = Place(sqlite_store)
    assert place.warmth.is_awaited

    place.look()
    assert not place.warmth.is_awaited
    assert ([("a", 2), ("b", 2)], []) == (place.loaded, place.told)


def test_what_nobody_has_begun_with_is_not_waited_for(sqlite_store: Store) -> None:
    assert not Warmth(sqlite_store, Memory(sqlite_store, 1), PATIENCE).is_awaited


def test_what_gets_warm_later_is_loaded_at_the_next_look_and_not_waited_for(
    sqlite_store: Store,
) -> None:
    place = Place(sqlite_store).look()
    mark(sqlite_store, "a")

    assert not place.warmth.is_awaited
    assert [("a", 2)] == place.look().loaded
    with sqlite_store.writing() as session:
        put_alias(session, "a", "champion", 1)
    assert [("a", 2), ("a", 1)] == place.look().loaded


def test_what_has_no_room_is_told_and_not_waited_for(sqlite_store: Store) -> None:
    mark(sqlite_store, "a", "b", "c")
    size = Place(sqlite_store).look().memory.cache.n_bytes // 3
    place = Place(sqlite_store, max_bytes=2 * size + size // 2).look()

    assert not place.warmth.is_awaited
    assert ([("a", 2), ("b", 2)], [("c", 2, NO_ROOM)]) == (place.loaded, place.told)


def test_what_was_given_up_for_others_is_not_loaded_again_and_again(sqlite_store: Store) -> None:
    mark(sqlite_store, "a", "b")
    place = Place(sqlite_store, max_bytes=1).look()
    assert [("a", 2)] == place.loaded
    place.memory.find(("b", None))

    assert [("b", 2)] == place.look().loaded


def test_what_cannot_be_loaded_is_told_and_not_waited_for(sqlite_store: Store) -> None:
    mark(sqlite_store, "a", "b")
    with sqlite_store.writing() as session:
        session.execute(text("DELETE FROM nodes WHERE version_id = 2"))
    place = Place(sqlite_store).look()

    assert not place.warmth.is_awaited
    assert ([("b", 2)], [("a", 2, BROKEN)]) == (place.loaded, place.told)


def test_what_takes_too_long_is_told_and_no_longer_waited_for(sqlite_store: Store) -> None:
    mark(sqlite_store, "a", "b")
    place = Place(sqlite_store)

    def slowly(key: tuple[int, str]) -> bool:
        assert place.warmth.is_awaited
        assert [("a", 2, LATE), ("b", 2, LATE)] == place.told
        place.now = PATIENCE
        assert not place.warmth.is_awaited
        raise NotFound

    place.memory.take_in = slowly  # type: ignore[method-assign]
    place.look()


def test_a_version_that_is_gone_in_between_is_not_told(sqlite_store: Store) -> None:
    mark(sqlite_store, "a")
    place = Place(sqlite_store)
    for key in ((2, "another job"), (9, "a 9")):
        with pytest.raises(NotFound):
            place.memory.take_in(key)


def test_a_database_that_is_not_there_yet_is_asked_again(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'bough.db'}")
    place = Place(store).look().look()
    assert place.warmth.is_awaited

    upgrade(store)
    assert not place.look().warmth.is_awaited
    store.dispose()
