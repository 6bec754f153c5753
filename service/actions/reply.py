"""Replying: the bytes of the answer to a question that fits its version's form.

A row that knows its way to a leaf is answered by that leaf's text; the others by what is mixed of
the leaves that they come to. Few rows take the way in plain Python, many in numpy.
"""

from collections.abc import Sequence
from threading import Lock
from typing import Any

import numpy as np
import orjson

from service.actions.form import Form, Question, numbers_of, rows_of, values_of
from service.actions.load import Loaded
from service.actions.predict import Answer, by_row, in_arrays, predict_weighted, teller
from service.actions.ready import Ready, written
from service.tree.arrays import Floats
from service.tree.criterion import TIE
from service.tree.descend import cells_of, descend
from service.tree.few import LOST, Row, leaf_of
from service.tree.predict import Predictions, told_at
from service.tree.reached import Mixed, mix

FEW = 250  # rows up to which plain Python is faster than numpy
FEW_LOST = 8  # rows that do not know their way up to which each is answered by itself; likewise
TAIL = b',"warnings":[]}\n'
TURN = Lock()


def reply(ready: Ready, form: Form, question: Question, n_rows: int) -> bytes:
    """The answer, as the body of a response."""
    if question.layout == "columns":
        columns = _by_column(ready, values_of(form, question, n_rows))
        return b"".join((ready.head, columns, TAIL))
    if n_rows <= FEW:
        texts = _few(ready, form, rows_of(question, n_rows))
    else:
        texts = many(ready, values_of(form, question, n_rows))
    return b"".join((ready.head, b"[", b",".join(texts), b"]", TAIL))


def _by_column(ready: Ready, values: Floats) -> bytes:
    compiled = ready.loaded.compiled
    nodes = descend(compiled, cells_of(values))
    if compiled.tree.is_leaf.take(nodes).all():
        found = told_at(compiled, nodes)
    else:
        found = _divided(ready, values)
    return orjson.dumps(_in_texts(in_arrays(Answer(ready.loaded, found, None, ())), {}))


def _in_texts(columns: dict[str, Any], texts: dict[int, orjson.Fragment]) -> dict[str, Any]:
    """The same with texts for arrays, each written once however often it stands there."""
    made = dict(columns)
    for name, column in columns.items():
        if isinstance(column, dict):
            made[name] = _in_texts(column, texts)
        elif isinstance(column, np.ndarray):
            if id(column) not in texts:
                text = orjson.dumps(column, option=orjson.OPT_SERIALIZE_NUMPY)
                texts[id(column)] = orjson.Fragment(text)
            made[name] = texts[id(column)]
    return made


def many(ready: Ready, values: Floats) -> list[bytes]:
    """What is told of each row of numbers (row, attribute), as JSON."""
    compiled = ready.loaded.compiled
    nodes = descend(compiled, cells_of(values))
    (lost,) = (~compiled.tree.is_leaf.take(nodes)).nonzero()
    if len(lost) == 0:
        return ready.texts.of(nodes.tolist())
    texts = _told(ready, _divided(ready, values[lost]))
    return _in_order(ready, nodes.tolist(), dict(zip(lost.tolist(), texts, strict=True)))


def _few(ready: Ready, form: Form, rows: Sequence[Row]) -> list[bytes]:
    leaves = [leaf_of(ready.few, row) for row in rows]
    lost = [at for at, leaf in enumerate(leaves) if leaf == LOST]
    if not lost:
        return ready.texts.of(leaves)
    texts = _lost(ready, [numbers_of(form, rows[at]) for at in lost])
    return _in_order(ready, leaves, dict(zip(lost, texts, strict=True)))


def _lost(ready: Ready, rows: Sequence[Sequence[float | None]]) -> list[bytes]:
    """What is told of rows that do not know their way."""
    if ready.reach is not None and len(rows) <= FEW_LOST:
        return written(_mixed(ready.loaded, mix(ready.reach, row)) for row in rows)
    return _told(ready, _divided(ready, np.array(rows, dtype=np.float64)))


def _in_order(ready: Ready, leaves: Sequence[int], told: dict[int, bytes]) -> list[bytes]:
    """All texts: what is told of some rows, and of the others what their leaves tell."""
    rest = iter(ready.texts.of([leaf for at, leaf in enumerate(leaves) if at not in told]))
    return [told[at] if at in told else next(rest) for at in range(len(leaves))]


def _mixed(loaded: Loaded, row: Mixed) -> dict[str, Any]:
    """The answer to a row for which a null mattered."""
    likely = max(row.probabilities) - TIE
    best = next(at for at, each in enumerate(row.probabilities) if each >= likely)
    numbers = (row.probabilities, row.deviation, row.lowest, row.highest)
    unknown = [loaded.version.attributes[attribute].name for attribute in row.unknown]
    said = (best, *numbers, row.n_leaves, False)
    return teller(loaded)(loaded.version.classes, said, unknown)


def _divided(ready: Ready, values: Floats) -> Predictions:
    # numpy lets go of the interpreter at each call: who had to wait for it each time would take
    # several times as long as those take who wait for their turn once
    with TURN:
        return predict_weighted(ready.loaded, values)


def _told(ready: Ready, found: Predictions) -> list[bytes]:
    return written(by_row(Answer(ready.loaded, found, None, ())))
