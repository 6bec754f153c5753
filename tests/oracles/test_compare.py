"""The comparison itself: of an oracle's tree that is not ours it says where it is not."""

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from service.tree.learn import learn
from service.tree.params import resolve
from tests.oracles.compare import differences
from tests.oracles.sets import expected, oracle_set


def nodes(told: dict[str, Any]) -> Iterator[dict[str, Any]]:
    waiting = [told]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(node.get("children", []))


CHANGES: dict[str, Any] = {
    "n": lambda node: node["n"] + 0.001,
    "dist": lambda node: node["dist"][::-1],
    "attr": lambda _: "another",
    "gap": lambda node: [node["gap"][1], node["gap"][1] + 1],
    "value": lambda _: "another",
    "branch_weights": lambda node: [9.0, *node["branch_weights"][1:]],
    "children": lambda node: node["children"][1:],
}


@pytest.mark.parametrize("key", CHANGES)
def test_a_change_of_any_node_is_told(key: str) -> None:
    data, told = oracle_set("labor").data, expected("j48_weka39", "labor", "U_M2")["tree"]
    tree = learn(data, resolve("c45", {"pruning": "none", "min_weight": 2}))
    places = [
        place
        for place, node in enumerate(nodes(told))
        if key in node and node["n"] > 0 and CHANGES[key](node) != node[key]
    ]

    assert places
    for place in places:
        changed = deepcopy(told)
        node = list(nodes(changed))[place]
        node[key] = CHANGES[key](node)
        assert list(differences(tree, changed, data.attributes))
