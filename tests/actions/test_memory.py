"""Memory: what names mean is followed within a second, also when others change it."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from sqlalchemy import text

from service.actions.memory import Memory
from service.errors import NotFound
from service.storage.aliases import delete_alias, put_alias
from service.storage.engine import Store, open_store
from service.storage.versions import fetch_version, save_version
from tests.actions.golf import a_tree, golf

BYTES = 10_000_000


class Clock:
    """Stands still until it is set."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def saved(store: Store, model: str = "golf") -> None:
    """Saves one more version of a model."""
    draft = golf(model=model).version
    with store.writing() as session:
        save_version(session, str(uuid4()), draft, a_tree())


@pytest.fixture
def other(database_url: str) -> Iterator[Store]:
    """The same database, opened by somebody else."""
    opened = open_store(database_url)
    yield opened
    opened.dispose()


def test_a_moved_alias_is_followed_after_a_second(store: Store, other: Store) -> None:
    clock = Clock()
    memory = Memory(store, BYTES, clock)
    saved(other)
    saved(other)

    def point(number: int) -> None:
        with other.writing() as session:
            put_alias(session, "golf", "best", number)

    def meant() -> int:
        return memory.find(("golf@best", None)).loaded.version.number

    point(1)
    assert meant() == 1
    point(2)
    assert meant() == 1
    clock.now += 1
    assert memory.fresh(("golf@best", None)) is None
    assert meant() == 2


def test_what_is_gone_is_gone_after_a_second(store: Store, other: Store) -> None:
    clock = Clock()
    memory = Memory(store, BYTES, clock)
    saved(other)
    with other.writing() as session:
        put_alias(session, "golf", "best", 1)
    selections = (("golf@best", None), ("golf", None), ("golf", 1))
    for selected in selections:
        memory.find(selected)
    with other.writing() as session:
        delete_alias(session, "golf", "best")
        session.execute(text("DELETE FROM models"))
    clock.now += 1

    for selected in selections:
        with pytest.raises(NotFound):
            memory.find(selected)


def test_a_name_without_more_means_the_newest_version(store: Store) -> None:
    clock = Clock()
    memory = Memory(store, BYTES, clock)
    saved(store)
    assert memory.find(("golf", None)).loaded.version.number == 1
    saved(store)
    clock.now += 1

    assert memory.find(("golf", None)).loaded.version.number == 2
    assert memory.find(("golf", 1)).loaded.version.number == 1


def test_a_version_is_in_memory_once_whatever_it_is_called(store: Store) -> None:
    memory = Memory(store, BYTES)
    saved(store)
    with store.writing() as session:
        put_alias(session, "golf", "best", 1)
    found = {id(memory.find(each)) for each in (("golf", None), ("golf@best", None), ("golf", 1))}

    assert len(found) == 1


def test_an_id_that_is_used_again_is_another_version(sqlite_store: Store) -> None:
    clock = Clock()
    memory = Memory(sqlite_store, BYTES, clock)
    saved(sqlite_store, "old")
    memory.find(("old", None))
    with sqlite_store.reading() as session:
        before = fetch_version(session, "old").id
    with sqlite_store.writing() as session:
        session.execute(text("DELETE FROM models"))
    saved(sqlite_store, "new")
    with sqlite_store.reading() as session:
        assert fetch_version(session, "new").id == before

    assert memory.find(("new", None)).loaded.version.model == "new"
