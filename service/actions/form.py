"""Forms: what an ordinary question about a version looks like, read and checked in one pass.

Whoever does not fit the form of a version is not wrong yet: the body is then read by hand, with
all that may be in it, and is told what is wrong where.
"""

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from types import GenericAlias
from typing import Any, Literal, Protocol

import msgspec
import numpy as np
from msgspec.structs import astuple

from service.tree.arrays import Floats
from service.tree.attribute import Attribute, Kind
from service.tree.few import Codes, Row

UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
FORM_BYTES, FIELD_BYTES = 8_000, 1_500  # about what the types take, and each name in them
PLAIN = str | float | bool | None  # what is no input may be anything, but then it is read by hand
ODD = re.compile(r'["\\\x00-\x1f]')  # what JSON does not write as it is
WHOLE = re.compile("0|-?[1-9][0-9]{0,14}")  # the text of a number that is whole as a float too


class Question(Protocol):
    """A question that fits its form; what was not given is None."""

    model: str | None
    version: int | None
    rows: list[Any] | None
    columns: Any
    layout: str


@dataclass(frozen=True)
class Form:
    """The form of the questions about one version."""

    decoder: msgspec.json.Decoder[Any]
    n_attributes: int
    n_names: int  # with those that may be given and mean nothing
    codes: Codes  # of the attributes that have categories

    @property
    def n_bytes(self) -> int:
        """About how much memory this takes."""
        return FORM_BYTES + FIELD_BYTES * self.n_names


def make_codes(attributes: Sequence[Attribute]) -> Codes:
    """Per attribute that has categories what each raw value is among them."""
    return {at: _codes_of(each) for at, each in enumerate(attributes) if each.values}


def make_form(
    attributes: Sequence[Attribute], not_inputs: Iterable[str], codes: Codes
) -> Form | None:
    """The form for rows of these attributes, among which what is no input may stand too.

    None where an attribute has a name that JSON would not write as it is: no type can have it.
    """
    if any(ODD.search(each.name) for each in attributes):
        return None
    others = [name for name in dict.fromkeys(not_inputs) if not ODD.search(name)]
    names = [*(each.name for each in attributes), *others]
    types = [_type_of(each, codes.get(at, {})) for at, each in enumerate(attributes)]
    types += [PLAIN] * len(others)
    question = msgspec.defstruct(
        "Question",
        [  # what may be left out may not be null for all that
            ("model", str, None),
            ("version", int, None),
            ("rows", GenericAlias(list, _struct("Row", names, types)), None),
            ("columns", _struct("Columns", names, [GenericAlias(list, of) for of in types]), None),
            ("strict", bool, False),  # makes no difference to who fits
            ("missing", Literal["weighted"], "weighted"),
            ("layout", Literal["rows", "columns"], "rows"),
        ],
        forbid_unknown_fields=True,
    )
    return Form(msgspec.json.Decoder(question), len(attributes), len(names), codes)


def _struct(title: str, names: Sequence[str], types: Sequence[Any]) -> Any:
    """The type of objects with these names, which need not be names to Python."""
    fields = [(f"f{at}", each, None) for at, each in enumerate(types)]
    rename = {f"f{at}": name for at, name in enumerate(names)}
    # what was JSON cannot hold itself: nobody need look for cycles in it
    return msgspec.defstruct(title, fields, rename=rename, forbid_unknown_fields=True, gc=False)


def _codes_of(attribute: Attribute) -> Mapping[Any, int | None]:
    """Per raw value the number of its category: its text, and the number or truth it is of."""
    texts = {text: code for code, text in enumerate(attribute.values)}
    raw: dict[Any, int | None] = {None: None, **texts}
    numbers = {int(text): code for text, code in texts.items() if WHOLE.fullmatch(text)}
    if not numbers and {"true", "false"} <= texts.keys():  # to Python true is 1
        return raw | {True: texts["true"], False: texts["false"]}
    return raw | numbers


def _type_of(attribute: Attribute, codes: Mapping[Any, int | None]) -> Any:
    """The type of the raw values that are known; a stranger among categories does not fit."""
    if attribute.kind == Kind.NUMERIC:
        return float | None
    named = tuple(value for value in codes if isinstance(value, str) or type(value) is int)
    if not named:
        return None
    has_truth = any(value is True for value in codes)
    return Literal[named] | bool | None if has_truth else Literal[named] | None


def fitting(form: Form, sent: bytes) -> Question | None:
    """The question that a body asks; None where it does not fit the form."""
    try:
        question: Question = form.decoder.decode(sent)
    except UNREADABLE:
        return None
    return question


def count_rows(question: Question) -> int | None:
    """How many rows are asked about; None where that is not one table."""
    if (question.rows is None) == (question.columns is None):
        return None
    if question.rows is not None:
        return len(question.rows)
    lengths = {len(column) for column in astuple(question.columns) if column is not None}
    if len(lengths) > 1:
        return None
    return lengths.pop() if lengths else 0


def rows_of(question: Question, n_rows: int) -> list[Row]:
    """The rows as they were sent, attribute after attribute."""
    if question.rows is not None:
        return list(map(astuple, question.rows))
    return list(zip(*_columns(question, n_rows), strict=True))


def _columns(question: Question, n_rows: int) -> Iterable[Sequence[Any]]:
    """The columns, null where nothing was sent."""
    nothing = (None,) * n_rows
    return (nothing if each is None else each for each in astuple(question.columns))


def numbers_of(form: Form, row: Row) -> list[float | None]:
    """A row in numbers: each category as its own."""
    cells = list(row[: form.n_attributes])
    for at, codes in form.codes.items():
        cells[at] = codes[cells[at]]
    return cells


def values_of(form: Form, question: Question, n_rows: int) -> Floats:
    """The rows as numbers (row, attribute), NaN for null."""
    if question.rows is not None:
        return _matrix(form, list(chain.from_iterable(map(astuple, question.rows))))
    values = np.empty((form.n_attributes, n_rows))
    for at, column in zip(range(form.n_attributes), _columns(question, n_rows), strict=False):
        codes = form.codes.get(at)
        values[at] = _numbers(list(map(codes.__getitem__, column)) if codes else column)
    return values.T


def _matrix(form: Form, cells: list[Any]) -> Floats:
    """The values (row, attribute) of cells that stand row after row, with a place for each name."""
    step = form.n_names
    for at, codes in form.codes.items():
        cells[at::step] = list(map(codes.__getitem__, cells[at::step]))
    for at in range(form.n_attributes, step):
        cells[at::step] = [0.0] * (len(cells) // step)  # no input
    return _numbers(cells).reshape(-1, step)[:, : form.n_attributes]


def _numbers(column: Sequence[Any]) -> Floats:
    try:  # a third of the time that numpy takes to read a list
        return np.frombuffer(struct.pack(f"{len(column)}d", *column))
    except struct.error:  # there is a null, which is NaN to numpy
        return np.fromiter(column, dtype=np.float64, count=len(column))
