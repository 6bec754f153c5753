"""Answers in bulk by column, for CSV and Arrow."""

from typing import Any

import numpy as np

from service.actions.bulk import Asked, Block, nothing
from service.actions.flat import UNKNOWN, flat_arrays
from service.actions.load import Loaded
from service.actions.predict import Answer, answer_to
from service.actions.reply import tell_rows
from service.tree.arrays import Floats, Ints
from service.tree.predict import told_at
from service.tree.tell import predictions_of

WARNINGS = "warnings"  # the column that names the attributes whose value no category has


class Columns:
    """Tells what the version says of rows of numbers, in arrays as `flat_arrays` has them."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._at_nodes: dict[str, Any] = {}  # what a row is told that ends at each node

    @property
    def names(self) -> list[str]:
        """The columns in their order."""
        return list(self.of(nothing(self._asked)))

    def of(self, block: Block) -> dict[str, Any]:
        """The answers to a block, and the pairs (row, attribute) that are strange in it."""
        names = [each.name for each in self._asked.ready.loaded.version.attributes]
        pairs = [(row, names.index(name)) for name, rows in block.strangers.items() for row in rows]
        strange = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
        return self._told(block.values) | {WARNINGS: strange}

    def _told(self, values: Floats) -> dict[str, Any]:
        loaded = self._asked.ready.loaded
        if self._asked.is_usual:
            told = tell_rows(self._asked.ready, values)
            if (told.ends >= 0).all():
                return self._told_at(loaded, told.ends)
            found = predictions_of(loaded.compiled, told)
            return flat_arrays(Answer(loaded, found, None, ()))
        return flat_arrays(answer_to(loaded, values, self._asked.missing, ()))

    def _told_at(self, loaded: Loaded, leaves: Ints) -> dict[str, Any]:
        n_nodes = len(loaded.compiled.tree)
        if n_nodes > len(leaves):  # of some rows it is faster to look at each than at all nodes
            return flat_arrays(Answer(loaded, told_at(loaded.compiled, leaves), None, ()))
        if not self._at_nodes:
            told = told_at(loaded.compiled, np.arange(n_nodes))
            self._at_nodes = flat_arrays(Answer(loaded, told, None, ()))
        return {
            name: column if name == UNKNOWN else column.take(leaves)
            for name, column in self._at_nodes.items()
        }
