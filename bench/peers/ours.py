"""Our learner, through its core: from encoded rows to the frozen tree."""

from collections.abc import Callable
from typing import Any

import numpy as np

from bench.data import Rows, Schema
from bench.peers.worker import Peer, Settings, serve
from service.heap import keep_memory
from service.tree.attribute import Attribute, Kind
from service.tree.compiled import compile_tree
from service.tree.dataset import Dataset
from service.tree.learn import study
from service.tree.nodes import Tree
from service.tree.params import resolve
from service.tree.predict import predict
from service.tree.pruners import Task


def dataset(rows: Rows) -> Dataset:
    """The rows as the learner takes them."""
    ones = np.ones(len(rows.target))
    attributes, classes = attributes_of(rows.schema), classes_of(rows.schema)
    return Dataset(attributes, classes, rows.values, rows.target, ones)


def attributes_of(schema: Schema) -> tuple[Attribute, ...]:
    """One attribute a column."""
    return tuple(
        Attribute(name, Kind.CATEGORICAL, tuple(f"v{value}" for value in range(n)))
        if n
        else Attribute(name, Kind.NUMERIC)
        for name, n in zip(schema.names, schema.n_categories, strict=True)
    )


def classes_of(schema: Schema) -> tuple[str, ...]:
    """The names of the classes; none in regression."""
    return tuple(f"k{number}" for number in range(schema.n_classes))


def prepare(rows: Rows, settings: Settings) -> Callable[[], Tree]:
    """What grows and prunes the tree that is served."""
    overrides = {name: value for name, value in settings.items() if name != "preset"}
    task = Task(dataset(rows), resolve(settings["preset"], overrides))
    return lambda: study(task).served


def predicted(tree: Tree, rows: Rows) -> Any:
    """Per row the number of the class, or y."""
    compiled = compile_tree(tree, attributes_of(rows.schema), classes_of(rows.schema))
    found = predict(compiled, rows.values)
    return found.classes if rows.schema.n_classes else found.means


if __name__ == "__main__":
    keep_memory()  # as the process of a training does
    serve(Peer(prepare, lambda tree: int(tree.is_reached.sum()), predicted))
