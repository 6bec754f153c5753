import re
import time
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import text

from service.errors import InvalidData
from service.storage.engine import Store
from service.storage.node_pages import node_page
from service.storage.nodes import load_tree
from service.storage.records import NodeRecord, NodeState, Version
from service.storage.versions import fetch_version, save_version
from service.tree.attribute import Kind
from service.tree.cost_complexity import at_alpha
from service.tree.nodes import SYMBOLS, Operator, Split, Tree
from tests.storage.trees import ATTRIBUTES, CLASSES, a_draft, a_tree, of_numbers, with_sequence

TABLES = Path(__file__).parents[2] / "docs" / "tables.md"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(n_nodes=st.integers(1, 60), seed=st.integers(0, 2**32))
def test_a_tree_comes_back_exactly_as_it_was_saved(store: Store, n_nodes: int, seed: int) -> None:
    tree = a_tree(n_nodes, seed)

    assert_same(tree, load_tree_of(store, kept(store, tree)))


def test_a_tree_of_numbers_comes_back_with_means_and_variances(store: Store) -> None:
    tree = of_numbers(a_tree(40, seed=5))
    version = kept(store, tree, task="regression", classes=())

    with store.reading() as session:
        nodes = node_page(session, version, None, None, limit=1000).items
    assert_same(tree, load_tree_of(store, version))
    assert [*zip(tree.mean, tree.variance, strict=True)] == [
        (node.mean, node.variance) for node in nodes
    ]
    assert all({} == node.distribution for node in nodes)


def test_a_sequence_is_kept_whole_and_measured_as_it_is_served(store: Store) -> None:
    tree = with_sequence(a_tree(60, seed=4))
    alpha = float(np.median(tree.alpha_cut[~tree.is_leaf]))
    version = kept(store, tree, alpha=alpha)
    smaller = at_alpha(tree, alpha)
    reached = smaller.is_reached

    assert_same(tree, load_tree_of(store, version))
    assert alpha == version.alpha
    assert 0 < reached.sum() < len(tree)
    assert (version.n_nodes, version.n_leaves) == (
        reached.sum(), (reached & smaller.is_leaf).sum(),
    )  # fmt: skip
    assert version.depth == tree.depth[reached].max()


@pytest.mark.parametrize("place", [0.0, 0.3, 0.7, 1.0])
def test_pages_hold_the_nodes_of_the_tree_at_an_alpha(store: Store, place: float) -> None:
    tree = with_sequence(a_tree(60, seed=4))
    alpha = float(np.quantile(tree.alpha_cut[~tree.is_leaf], place))
    version = kept(store, tree, alpha=0.5)
    smaller = at_alpha(tree, alpha)

    assert [
        named(smaller, node, asked=tree) for node in np.flatnonzero(smaller.is_reached).tolist()
    ] == walked(store, version, alpha)


def test_a_node_says_in_sql_what_it_is_in_the_tree_that_is_served(store: Store) -> None:
    tree = with_sequence(a_tree(60, seed=4))
    version = kept(store, tree, alpha=0.5)
    smaller = at_alpha(tree, 0.5)
    expected = np.where(smaller.is_leaf, "leaf", "inner")
    question = "SELECT state FROM nodes WHERE version_id = :version ORDER BY node_id"

    with store.reading() as session:
        states = session.scalars(text(question), {"version": version.id}).all()

    assert np.where(smaller.is_reached, expected, "pruned").tolist() == states
    assert {"inner", "leaf", "pruned"} == set(states)


def test_plain_sql_tells_the_tree_at_any_alpha(store: Store) -> None:
    """The query is the one that stands in docs/tables.md."""
    query = re.findall(r"```sql\n(.*?);\n```", TABLES.read_text(encoding="utf-8"), re.DOTALL)[0]
    tree = with_sequence(a_tree(60, seed=4))
    version = kept(store, tree, alpha=0.5)

    for alpha in (0.0, 0.2, 0.5, 2.0):
        asked = query.replace("0.02", str(alpha)).replace("version_id = 1 ", "version_id = :id ")
        with store.reading() as session:
            found = session.execute(text(asked), {"id": version.id}).all()
        smaller = at_alpha(tree, alpha)
        assert [
            (node, smaller.is_leaf[node]) for node in np.flatnonzero(smaller.is_reached)
        ] == found


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

    assert [named(tree, node) for node in range(len(tree))] == walked(store, version, None)


def test_a_version_without_nodes_beyond_the_position_gives_an_empty_page(store: Store) -> None:
    version = kept(store, a_tree(5))

    with store.reading() as session:
        assert ((), None) == page_of(node_page(session, version, None, (999,), limit=7))


@pytest.mark.parametrize("position", [(), ("1",), (1, 2), (2**40,), (True,)])
def test_a_position_of_another_list_is_refused(store: Store, position: tuple[int, ...]) -> None:
    version = kept(store, a_tree(5))

    with store.reading() as session, pytest.raises(InvalidData):
        node_page(session, version, None, position, limit=7)


def test_an_empty_branch_is_kept_with_the_distribution_of_its_parent(store: Store) -> None:
    tree = a_tree(60, seed=1)
    empty = int(np.flatnonzero(tree.weight == 0)[0])
    version = kept(store, tree)

    with store.reading() as session:
        nodes = node_page(session, version, None, None, limit=1000).items

    assert nodes[empty].share == 0
    assert nodes[tree.parent[empty]].distribution == nodes[empty].distribution


def test_plain_sql_says_which_leaves_say_yes_and_with_what_weight(store: Store) -> None:
    tree = a_tree(30, seed=2)
    version = kept(store, tree)
    question = """
        SELECT nodes.node_id, node_weights.weight FROM nodes
        JOIN node_weights USING (version_id, node_id) JOIN classes USING (version_id, class_id)
        WHERE version_id = :version AND nodes.state = 'leaf' AND classes.name = 'yes'
        ORDER BY nodes.node_id"""

    with store.reading() as session:
        answer = session.execute(text(question), {"version": version.id}).all()

    says_yes = np.flatnonzero(tree.is_leaf & (tree.distribution[:, 0] > 0))
    assert [(node, tree.distribution[node, 0]) for node in says_yes] == answer


def kept(store: Store, tree: Tree, **draft: Any) -> Version:
    with store.writing() as session:
        job_id = f"job {time.monotonic_ns()}"
        number = save_version(session, job_id, a_draft(**draft), tree)
        return fetch_version(session, "melons", number)


def walked(store: Store, version: Version, alpha: float | None) -> list[NodeRecord]:
    """All nodes, page by page."""
    records, after = [], None
    while not records or after:
        with store.reading() as session:
            page = node_page(session, version, alpha, after, limit=7)
        assert len(page.items) <= 7
        records, after = [*records, *page.items], page.next
    return records


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


def named(tree: Tree, node: int, asked: Tree | None = None) -> NodeRecord:
    """The node as a reader of the API would write it down."""
    operator, is_leaf = Operator(tree.operator[node]), bool(tree.is_leaf[node])
    above = ATTRIBUTES[(asked or tree).attribute[tree.parent[node]]]
    is_cut = operator in (Operator.AT_MOST, Operator.ABOVE)
    has_category = operator is Operator.EQUAL or (is_cut and above.kind is Kind.ORDINAL)
    codes = tree.categories(node).tolist()
    alpha_cut = float(tree.alpha_cut[node])
    return NodeRecord(
        node=node,
        parent=int(tree.parent[node]) if node else None,
        depth=tree.depth[node],
        branch=tree.branch[node],
        operator=SYMBOLS.get(operator),
        threshold=tree.value[node] if is_cut else None,
        category=above.values[int(tree.value[node])] if has_category else None,
        categories=tuple(above.values[code] for code in codes) if codes else None,
        share=tree.share[node],
        weight=tree.weight[node],
        impurity=tree.impurity[node],
        attribute=None if is_leaf else ATTRIBUTES[tree.attribute[node]].name,
        split=None if is_leaf else Split(tree.split[node]).name.lower(),
        gain=None if is_leaf else tree.gain[node],
        distribution=dict(zip(CLASSES, tree.distribution[node].tolist(), strict=True)),
        mean=None,
        variance=None,
        alpha_cut=None if np.isnan(alpha_cut) else alpha_cut,
        state=NodeState.LEAF if is_leaf else NodeState.INNER,
    )
