"""Preset `id3` beside Weka 3.6.14's Id3, on the complete categorical sets it can take.

Compared are the attribute of every node, its branches, and the probabilities of its leaves. A
branch that no row took is "unclassified" to Id3 and answers as its parent here: of it only that it
is a leaf without weight. Id3 takes the first of equal gains, without a tolerance.
"""

import pytest

from service.tree.learn import learn
from service.tree.params import resolve
from tests.oracles.compare import differences
from tests.oracles.sets import expected, oracle_set


@pytest.mark.parametrize("name", ["contact_lenses", "monks1", "weather_nominal", "zoo"])
def test_the_tree_is_weka_id3s_node_by_node(name: str) -> None:
    data, told = oracle_set(name).data, expected("weka_id3", name, "id3")
    tree = learn(data, resolve("id3", {}))

    assert [] == list(differences(tree, told["tree"], data.attributes))
    assert told["nodes"] == len(tree)
