import time
from dataclasses import fields

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from service.errors import InvalidData
from service.storage.engine import Store
from service.storage.nodes import load_tree, node_page
from service.storage.records import NodeRecord, Version
from service.storage.versions import fetch_version, save_version
from service.tree.nodes import SYMBOLS, Operator, Split, Tree
from tests.storage.trees import ATTRIBUTES, CLASSES, a_draft, a_tree


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(n_nodes=st.integers(1, 60), seed=st.integers(0, 2**32))
def test_a_tree_comes_back_exactly_as_it_was_saved(store: Store, n_nodes: int, seed: int) -> None:
    tree = a_tree(n_nodes, seed)

    assert_same(tree, load_tree_of(store, kept(store, tree)))


def test_a_hundred_thousand_nodes_are_saved_and_loaded_in_bulk(store: Store) -> None:
    tree = a_tree(100_000)

    start = time.monotonic()
    version = kept(store, tree)
    middle = time.monotonic()
    loaded = load_tree_of(store, version)
    end = time.monotonic()

    assert_same(tree, loaded)
    # Row by row either takes minutes; on an idle machine it is 1 to 2 s and half a second.
    assert middle - start < 15
    assert end - middle < 8


def test_pages_give_every_node_once_with_names_for_numbers(store: Store) -> None:
    tree = a_tree(40, seed=3)
    version = kept(store, tree)

    records, after = [], None
    while not records or after:
        with store.reading() as session:
            page = node_page(session, version.id, after, limit=7)
        assert len(page.items) <= 7
        records, after = [*records, *page.items], page.next

    assert [named(tree, node) for node in range(len(tree))] == records


def test_a_version_without_nodes_beyond_the_position_gives_an_empty_page(store: Store) -> None:
    version = kept(store, a_tree(5))

    with store.reading() as session:
        assert ((), None) == page_of(node_page(session, version.id, (999,), limit=7))


@pytest.mark.parametrize("position", [(), ("1",), (1, 2), (2**40,), (True,)])
def test_a_position_of_another_list_is_refused(store: Store, position: tuple[int, ...]) -> None:
    version = kept(store, a_tree(5))

    with store.reading() as session, pytest.raises(InvalidData):
        node_page(session, version.id, position, limit=7)


def test_an_empty_branch_is_kept_with_the_distribution_of_its_parent(store: Store) -> None:
    tree = a_tree(60, seed=1)
    empty = int(np.flatnonzero(tree.weight == 0)[0])
    version = kept(store, tree)

    with store.reading() as session:
        nodes = node_page(session, version.id, None, limit=1000).items

    assert nodes[empty].share == 0
    assert nodes[tree.parent[empty]].distribution == nodes[empty].distribution


def test_plain_sql_says_which_leaves_say_yes_and_with_what_weight(store: Store) -> None:
    tree = a_tree(30, seed=2)
    version = kept(store, tree)
    question = """
        SELECT nodes.node_id, node_weights.weight FROM nodes
        JOIN node_weights USING (version_id, node_id) JOIN classes USING (version_id, class_id)
        WHERE version_id = :version AND nodes.attribute IS NULL AND classes.name = 'yes'
        ORDER BY nodes.node_id"""

    with store.reading() as session:
        answer = session.execute(text(question), {"version": version.id}).all()

    says_yes = np.flatnonzero(tree.is_leaf & (tree.distribution[:, 0] > 0))
    assert [(node, tree.distribution[node, 0]) for node in says_yes] == answer


def kept(store: Store, tree: Tree) -> Version:
    with store.writing() as session:
        number = save_version(session, f"job {time.monotonic_ns()}", a_draft(), tree)
        return fetch_version(session, "melons", number)


def load_tree_of(store: Store, version: Version) -> Tree:
    with store.reading() as session:
        return load_tree(session, version)


def assert_same(expected: Tree, actual: Tree) -> None:
    for field in fields(Tree):
        one, other = getattr(expected, field.name), getattr(actual, field.name)
        assert (one.dtype, one.shape) == (other.dtype, other.shape), field.name
        assert np.array_equal(one, other, equal_nan=one.dtype == np.float64), field.name


def page_of(page: object) -> tuple[object, object]:
    return page.items, page.next


def named(tree: Tree, node: int) -> NodeRecord:
    """The node as a reader of the API would write it down."""
    operator, is_leaf = Operator(tree.operator[node]), bool(tree.is_leaf[node])
    asked = ATTRIBUTES[tree.attribute[tree.parent[node]]]
    is_equal = operator is Operator.EQUAL
    return NodeRecord(
        node=node,
        parent=int(tree.parent[node]) if node else None,
        depth=tree.depth[node],
        branch=tree.branch[node],
        operator=SYMBOLS.get(operator),
        threshold=None if is_equal or not node else tree.value[node],
        category=asked.values[int(tree.value[node])] if is_equal else None,
        share=tree.share[node],
        weight=tree.weight[node],
        impurity=tree.impurity[node],
        attribute=None if is_leaf else ATTRIBUTES[tree.attribute[node]].name,
        split=None if is_leaf else Split(tree.split[node]).name.lower(),
        gain=None if is_leaf else tree.gain[node],
        distribution=dict(zip(CLASSES, tree.distribution[node].tolist(), strict=True)),
    )
