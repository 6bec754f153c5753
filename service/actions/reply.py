"""Replying: the bytes of the answer to a question that fits its version's form.

A row that knows its way to a leaf is answered by that leaf's text; the others by what is mixed of
the leaves that they come to. Few rows take the way in plain Python, many in native code.
"""

from collections.abc import Iterator, Sequence
from math import sqrt
from threading import Lock
from typing import Any

import numpy as np
import orjson

from service.actions.form import Form, Question, numbers_of, rows_of, values_of
from service.actions.predict import Answer, in_arrays, phrase_of
from service.actions.ready import Ready, written
from service.actions.wording import Worded, worded
from service.actions.wording_columns import worded_by_column
from service.tree.arrays import Floats
from service.tree.few import LOST, Row, leaf_of
from service.tree.kernels.shapes import MET
from service.tree.predict import told_at
from service.tree.tell import Told, attributes_in, predictions_of, tell, tell_by_hand

FEW, FEW_NAMED = 40, 150  # rows up to which Python is faster than native code; with categories
FEW_LOST = 8  # rows that do not know their way, likewise
TAIL = b',"warnings":[]}\n'
TURN = Lock()
NONE = orjson.Fragment(b"[]")


def reply(ready: Ready, form: Form, question: Question, n_rows: int) -> bytes:
    """The answer, as the body of a response."""
    is_few = question.layout == "rows" and n_rows <= (FEW_NAMED if form.codes else FEW)
    texts = _few(ready, form, rows_of(question, n_rows)) if is_few else None
    if texts is None:
        return reply_to(ready, values_of(form, question, n_rows), question.layout)
    return b"".join((ready.head, b"[", b",".join(texts), b"]", TAIL))


def reply_to(ready: Ready, values: Floats, layout: str) -> bytes:
    """The answer to rows of numbers (row, attribute)."""
    if layout == "columns":
        return b"".join((ready.head, *columns_of(ready, tell_rows(ready, values)), TAIL))
    return b"".join((ready.head, b"[", joined(ready, values), b"]", TAIL))


def by_column(ready: Ready, values: Floats) -> bytes:
    """What is told of each row, as JSON, one column after the other."""
    return b"".join(columns_of(ready, tell_rows(ready, values)))


def columns_of(ready: Ready, told: Told) -> Sequence[bytes | memoryview]:
    """The same of what is told, in pieces."""
    natives, tree = ready.loaded.natives, ready.loaded.compiled.tree
    if natives is None or len(told.marks) == 0:
        return [columns_by_hand(ready, told)]
    return worded_by_column(ready.wording, ready.columns, natives, tree.weight, put(ready, told))


def put(ready: Ready, told: Told) -> Told:
    """The same as it is written: in regression with the deviation in place of the variance."""
    if not told.is_regression:
        return told
    numbers = told.numbers.copy()
    if (told.ends >= 0).all():  # sums that begin with zero have lost the sign of a leaf's -0.0
        own = ready.loaded.compiled.probabilities[:, 0].take(told.ends)
        numbers[:, [0, 2, 3]] = own[:, None]
    np.sqrt(numbers[:, 1], out=numbers[:, 1])
    return told._replace(numbers=numbers)


def columns_by_hand(ready: Ready, told: Told) -> bytes:
    """The same without native code."""
    compiled, ends = ready.loaded.compiled, told.ends
    if (ends < 0).any():
        found = predictions_of(compiled, told, with_met=False)
    else:
        found = told_at(compiled, ends)
    answer = Answer(ready.loaded, found, None, ())
    return orjson.dumps(_in_texts(in_arrays(answer, _unknown(ready, told)), {}))


def _unknown(ready: Ready, told: Told) -> Sequence[object]:
    """Per row the unknown attributes that mattered."""
    words = told.marks[:, MET:]
    if not words.any():
        return [NONE] * len(words)
    names = [each.name for each in ready.loaded.version.attributes]
    return [[names[at] for at in attributes_in(met)] for met in words.tolist()]


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


def joined(ready: Ready, values: Floats) -> bytes:
    """What is told of each row of numbers (row, attribute), as JSON, with a comma between each two.

    Texts by row, of which there may be very many, are made only where they are wanted.
    """
    told = tell_rows(ready, values)
    words = _words(ready, told)
    if words is None:
        return b",".join(_by_hand(ready, told))
    return b"".join(each.text for each in words)[:-1]


def many(ready: Ready, values: Floats) -> list[bytes]:
    """The same as a text for each row."""
    told = tell_rows(ready, values)
    words = _words(ready, told)
    if words is None:
        return _by_hand(ready, told)
    return [text for each in words for text in each.rows]


def _words(ready: Ready, told: Told) -> Iterator[Worded] | None:
    """The texts of rows by native code; None where Python is faster, or there is none."""
    natives, n_lost = ready.loaded.natives, np.count_nonzero(told.ends < 0)
    if natives is None or n_lost <= FEW_LOST or not told.leaves.all():
        return None
    return worded(ready.wording, natives.write_rows, told, ready.texts.of)


def _by_hand(ready: Ready, told: Told) -> list[bytes]:
    """The texts of rows in plain Python."""
    (lost,) = (told.ends < 0).nonzero()
    if len(lost) == 0:
        return ready.texts.of(told.ends.tolist())
    return _in_order(ready, told.ends.tolist(), written(_by_row(ready, told.some(lost))))


def _few(ready: Ready, form: Form, rows: Sequence[Row]) -> list[bytes] | None:
    """The same of few rows; None where it looks as if many of them did not know their way."""
    leaves = [leaf_of(ready.few, row) for row in rows[:FEW_LOST]]
    if len(rows) > FEW_LOST and LOST in leaves:
        return None
    leaves += [leaf_of(ready.few, row) for row in rows[FEW_LOST:]]
    lost = [numbers_of(form, rows[at]) for at, leaf in enumerate(leaves) if leaf == LOST]
    if not lost:
        return ready.texts.of(leaves)
    return _in_order(ready, leaves, many(ready, np.array(lost, dtype=np.float64)))


def _in_order(ready: Ready, leaves: Sequence[int], told: list[bytes]) -> list[bytes]:
    """All texts: of rows that came to a leaf what that tells, and what is told of the others."""
    known = iter(ready.texts.of([leaf for leaf in leaves if leaf >= 0]))
    lost = iter(told)
    return [next(lost if leaf < 0 else known) for leaf in leaves]


def tell_rows(ready: Ready, values: Floats) -> Told:
    """What is told of rows of numbers (row, attribute)."""
    teller = ready.loaded.teller
    if teller is not None:
        return tell(teller, values)
    # numpy lets go of the interpreter at each call: who had to wait for it each time would take
    # several times as long as those take who wait for their turn once
    with TURN:
        return tell_by_hand(ready.loaded.compiled, values)


def _by_row(ready: Ready, told: Told) -> Iterator[dict[str, Any]]:
    """What is told of rows for which a null mattered, as one object each."""
    put, version = phrase_of(ready.loaded), ready.loaded.version
    n_answers, first = told.probabilities.shape[1], told.numbers.shape[1] - told.bounds.shape[1]
    for numbers, (_, best, n_leaves, *met) in zip(
        told.numbers.tolist(), told.marks.tolist(), strict=True
    ):
        bounds = (numbers[first::2], numbers[first + 1 :: 2])
        said = (best, numbers[:n_answers], sqrt(numbers[1]), *bounds, n_leaves, False)
        unknown = [version.attributes[at].name for at in attributes_in(met)]
        yield put(version.classes, said, unknown)
