"""Models, their versions and their aliases."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from service.errors import InvalidData, NotFound
from service.storage.aliases import alias_history, delete_alias, put_alias
from service.storage.engine import Store
from service.storage.models import ORDERS, fetch_model, list_models
from service.storage.versions import fetch_version, fetch_version_by_id, list_versions, save_version
from tests.storage.trees import CLASSES, a_draft, a_tree, of_numbers, saved

NAMES = ("melons", "Melons", "瓜", "apples", "Zebra", "100%_sure")


def test_a_version_is_all_that_was_drafted_and_the_sizes_of_its_tree(store: Store) -> None:
    draft, tree = a_draft(), a_tree(30)

    with store.writing() as session:
        save_version(session, "job", draft, tree)
    with store.reading() as session:
        version = fetch_version(session, "melons")
        assert fetch_version_by_id(session, version.id) == version

    assert vars(draft) == {key: vars(version)[key] for key in vars(draft)}
    assert (1, "job", ()) == (version.number, version.job_id, version.aliases)
    assert (version.n_nodes, version.n_leaves, version.depth) == (
        len(tree),
        tree.is_leaf.sum(),
        tree.depth.max(),
    )


def test_versions_are_numbered_by_model_and_listed_the_newest_first(store: Store) -> None:
    with store.writing() as session:
        numbers = [saved(session, f"job {job}", "ab"[job % 2]) for job in range(7)]

    assert [1, 1, 2, 2, 3, 3, 4] == numbers
    with store.reading() as session:
        first = list_versions(session, "a", None, 3)
        rest = list_versions(session, "a", first.next, 3)
        assert [4, 3, 2, 1] == [version.number for version in first.items + rest.items]
        assert rest.next is None
        assert 3 == fetch_version(session, "b").number
        assert 2 == fetch_version(session, "b", 2).number


def test_trainings_of_a_new_model_that_end_at_once_get_numbers_of_their_own(store: Store) -> None:
    def save(job: int) -> int:
        with store.writing() as session:
            return saved(session, f"job {job}")

    with ThreadPoolExecutor(6) as threads:
        numbers = list(threads.map(save, range(12)))

    assert list(range(1, 13)) == sorted(numbers)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("pears",), "no model 'pears'"),
        (("melons", 2), "no version 2"),
        (("melons", 2**70), "no version"),
        (("melons", None, "champion"), "no alias 'champion'"),
    ],
)
def test_what_is_missing_is_named(store: Store, arguments: tuple[object, ...], told: str) -> None:
    with store.writing() as session:
        saved(session, "job")

    with store.reading() as session, pytest.raises(NotFound, match=told):
        fetch_version(session, *arguments)


def test_a_name_that_no_database_can_keep_is_refused_by_both(store: Store) -> None:
    for ask in (fetch_version, fetch_model):
        with pytest.raises(InvalidData, match="NUL"), store.reading() as session:
            ask(session, "a\0b")
    with pytest.raises(InvalidData, match="NUL"), store.reading() as session:
        list_models(session, name_contains="\0", limit=3)


@pytest.mark.parametrize("order_by", ORDERS)
def test_models_are_listed_in_order_whatever_the_page(store: Store, order_by: str) -> None:
    for name in NAMES:
        with store.writing() as session:
            saved(session, f"job {name}", name)
    with store.writing() as session:  # of the same moment: the name decides
        saved(session, "again", "apples")

    with store.reading() as session:
        expected = list_models(session, order_by=order_by, limit=100).items
        key = order_by.removeprefix("-")
        in_order = sorted(expected, key=lambda model: (getattr(model, key), model.name))
        assert (in_order[::-1] if order_by != key else in_order) == list(expected)
        assert set(NAMES) == {model.name for model in expected}
        for limit in (1, 2, 5):
            assert list(expected) == everything(session, order_by, limit)


@pytest.mark.parametrize(
    ("part", "names"),
    [
        ("elon", {"melons", "Melons"}),
        ("MEL", {"melons", "Melons"}),
        ("瓜", {"瓜"}),
        ("%_", {"100%_sure"}),
        ("_", {"100%_sure"}),
        ("nothing", set()),
    ],
)
def test_models_are_found_by_a_part_of_their_name(store: Store, part: str, names: set[str]) -> None:
    with store.writing() as session:
        for name in NAMES:
            saved(session, f"job {name}", name)
        found = list_models(session, name_contains=part, limit=100).items

    assert names == {model.name for model in found}


def test_models_are_found_by_the_task_of_their_newest_version(store: Store) -> None:
    tree = of_numbers(a_tree())
    with store.writing() as session:
        for job, (name, task) in enumerate([("a", CLASSES), ("b", ()), ("a", ()), ("b", CLASSES)]):
            draft = a_draft(name, classes=task, task="classification" if task else "regression")
            save_version(session, f"job {job}", draft, a_tree() if task else tree)
        saved(session, "job", "c")
        found = list_models(session, task="regression", limit=1)
        others = list_models(session, task="classification", limit=1)

    assert (["a"], None) == ([model.name for model in found.items], found.next)
    assert (["b"], ("b", "b")) == ([model.name for model in others.items], others.next)


def test_an_alias_names_a_version_until_it_is_moved_or_removed(store: Store) -> None:
    with store.writing() as session:
        for job in "abc":
            saved(session, job)
        assert put_alias(session, "melons", "champion", 2) is True
        assert put_alias(session, "melons", "champion", 2) is False
        assert put_alias(session, "melons", "best", 2) is True
        assert ("best", "champion") == fetch_version(session, "melons", 2).aliases
        assert 2 == fetch_version(session, "melons", alias="champion").number
        assert {"best": 2, "champion": 2} == fetch_model(session, "melons").aliases
        assert put_alias(session, "melons", "champion", 1) is False
        assert {"best": 2, "champion": 1} == fetch_model(session, "melons").aliases
        delete_alias(session, "melons", "champion")
        assert {"best": 2} == fetch_model(session, "melons").aliases
        moves = alias_history(session, "melons", "champion")

    assert [None, 1, 2] == [move.version for move in moves]
    assert moves[0].moved_at >= moves[2].moved_at


def test_an_alias_needs_its_model_and_its_version(store: Store) -> None:
    with store.writing() as session:
        saved(session, "job")
        for model, version, told in (
            ("pears", 1, "pears"),
            ("melons", 9, "9"),
            ("melons", 2**70, "version"),
        ):
            with pytest.raises(NotFound, match=told):
                put_alias(session, model, "champion", version)
        with pytest.raises(NotFound, match="champion"):
            delete_alias(session, "melons", "champion")
        with pytest.raises(NotFound, match="champion"):
            alias_history(session, "melons", "champion")


def test_a_model_that_gets_a_version_or_an_alias_is_updated(store: Store) -> None:
    moments = []
    for change in (
        lambda session: saved(session, "a"),
        lambda session: saved(session, "b"),
        lambda session: put_alias(session, "melons", "champion", 1),
        lambda session: put_alias(session, "melons", "champion", 1),
    ):
        with store.writing() as session:
            change(session)
        with store.reading() as session:
            model = fetch_model(session, "melons")
        moments.append(model.updated_at)

    assert 2 == model.latest
    assert model.created_at <= moments[0] < moments[1] < moments[2] == moments[3]


def everything(session: object, order_by: str, limit: int) -> list[object]:
    models, after = [], None
    while not models or after:
        page = list_models(session, order_by=order_by, after=after, limit=limit)
        models, after = [*models, *page.items], page.next
    return models
