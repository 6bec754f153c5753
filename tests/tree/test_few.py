"""Few rows: each ends at the leaf to which it is routed, or is lost where it is divided."""

from typing import Any

import numpy as np
from hypothesis import given

from service.tree.compiled import CompiledTree
from service.tree.descend import cells_of, descend
from service.tree.few import LOST, leaf_of, make_few
from service.tree.route import route
from tests.tree.test_walk import Drawn, trees_and_rows


def raw(compiled: CompiledTree, values: np.ndarray) -> list[list[Any]]:
    """The rows as they would be sent: categories by name, None for null."""
    return [
        [
            None if cell != cell else of.values[int(cell)] if of.values else cell
            for of, cell in zip(compiled.attributes, row, strict=True)
        ]
        for row in values.tolist()
    ]


def codes_of(compiled: CompiledTree) -> dict[int, dict[Any, int | None]]:
    """Per attribute the number of each category."""
    return {
        at: {text: code for code, text in enumerate(each.values)}
        for at, each in enumerate(compiled.attributes)
        if each.values
    }


@given(trees_and_rows())
def test_a_row_walks_to_the_leaf_at_which_it_is_routed_and_else_is_lost(drawn: Drawn) -> None:
    compiled, values = drawn
    few = make_few(compiled, codes_of(compiled))
    expected = [LOST] * len(values)
    for block in route(compiled, values):
        met = set(block.met[:, 0].tolist())
        for row, leaf in zip(block.rows.tolist(), block.leaves.tolist(), strict=True):
            expected[row] = LOST if row in met else leaf

    assert [leaf_of(few, row) for row in raw(compiled, values)] == expected


@given(trees_and_rows())
def test_many_rows_descend_to_where_few_walk(drawn: Drawn) -> None:
    compiled, values = drawn
    few = make_few(compiled, codes_of(compiled))
    nodes = descend(compiled, cells_of(values))
    ended = np.where(compiled.tree.is_leaf[nodes], nodes, LOST)

    assert [leaf_of(few, row) for row in raw(compiled, values)] == ended.tolist()
