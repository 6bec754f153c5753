"""The golf tree of the PMML specification, made by hand."""

from datetime import UTC, datetime
from typing import Any

import numpy as np

from service.actions.load import Loaded
from service.storage.records import Version
from service.tree.attribute import Attribute, Kind
from service.tree.compiled import compile_tree
from service.tree.nodes import Operator, Split, Tree

CLASSES = ("will play", "may play", "no play")
OUTLOOK = Attribute("outlook", Kind.CATEGORICAL, ("sunny", "overcast", "rain"))
TEMPERATURE = Attribute("temperature", Kind.NUMERIC)
HUMIDITY = Attribute("humidity", Kind.NUMERIC)
BELOW_50 = float(np.nextafter(50, 0))  # the specification says < 50, a tree of ours says <=


def golf(**changes: Any) -> Loaded:
    """The tree, ready to answer; the version's fields can be changed."""
    attributes = changes.get("attributes", (OUTLOOK, TEMPERATURE, HUMIDITY))
    fields: dict[str, Any] = {
        "id": 1, "model": "golf", "number": 1, "task": "classification", "target": "play",
        "classes": CLASSES, "attributes": attributes, "ignored": (), "params": {}, "metrics": {},
        "n_rows": 100, "n_nodes": 5, "n_leaves": 3, "depth": 2, "alpha": None, "group_costs": {},
        "job_id": "a job", "created_at": datetime(2026, 11, 16, tzinfo=UTC), "aliases": (),
    }  # fmt: skip
    version = Version(**fields | changes)
    return Loaded(version, compile_tree(a_tree(), attributes, CLASSES))


def a_tree() -> Tree:
    distribution = np.array([[60, 30, 10], [40, 2, 8], [20, 28, 2], [4, 0, 6], [36, 2, 2]], float)
    weight = distribution.sum(axis=1)
    nothing = np.full(5, np.nan)
    return Tree(
        parent=np.array([-1, 0, 0, 1, 1]),
        depth=np.array([0, 1, 1, 2, 2]),
        branch=np.array([0, 0, 1, 0, 1]),
        operator=np.array(
            [Operator.NONE, Operator.EQUAL, Operator.AMONG, Operator.AT_MOST, Operator.ABOVE]
        ),
        value=np.array([np.nan, 0.0, np.nan, BELOW_50, BELOW_50]),
        set_start=np.array([0, 0, 0, 2, 2, 2]),
        set_values=np.array([1, 2]),
        share=np.array([1.0, 0.5, 0.5, 0.2, 0.8]),
        weight=weight,
        distribution=distribution,
        mean=nothing,
        variance=nothing,
        impurity=np.zeros(5),
        attribute=np.array([0, 1, -1, -1, -1]),
        split=np.array([Split.SUBSET, Split.THRESHOLD, Split.LEAF, Split.LEAF, Split.LEAF]),
        gain=np.array([0.1, 0.1, np.nan, np.nan, np.nan]),
        alpha_cut=nothing,
    )
