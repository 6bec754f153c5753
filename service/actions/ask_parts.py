"""Asking about very many rows: the body is read in parts, none of which takes long.

To read all of it in one go would hold the interpreter for as long as that takes, and whoever asks
about one row beside it would have to wait.
"""

import re
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from service.actions.ask import START, Find, at_the_start, meant, most_rows
from service.actions.form import UNREADABLE, Form, fitting, values_of
from service.actions.reading import read_rows
from service.actions.ready import Ready
from service.actions.reply import TAIL, joined
from service.settings import Settings
from service.tree.arrays import Floats

PART = 256 * 1024  # bytes: some thousand rows, which take a few milliseconds
ROWS = re.compile(rb'\s*"rows"\s*:\s*\[')
BETWEEN = b"},"  # two rows, where they have no objects in them


def ask_in_parts(
    sent: bytes, name: str | None, find: Find, settings: Settings
) -> list[bytes] | None:
    """The answer in pieces; None where the body is not one of rows that fit the form.

    The model's name stands in the body, before the rows, if it is not given here.
    """
    head = START.match(sent)
    rows = head and ROWS.match(sent, head.end())
    selected = at_the_start(sent, name)
    ready = find(selected) if selected and rows else None
    if ready is None or ready.form is None or rows is None:
        return None
    start = fitting(ready.form, sent[: rows.end()] + b"]}")
    if start is None or meant(start, name) != selected:
        return None
    pieces, n_rows = [ready.head + b"["], 0
    for some in _rows(sent, rows.end(), ready, ready.form):
        n_rows += 0 if some is None else len(some)
        if some is None or n_rows > most_rows(ready, ready.form, settings):
            return None
        if len(some):
            told = joined(ready, some)
            pieces.append(b"," + told if len(pieces) > 1 else told)
    return [*pieces, b"]" + TAIL]


def _rows(sent: bytes, start: int, ready: Ready, form: Form) -> Iterator[Floats | None]:
    """The values of the rows, some at a time; None if some of them do not fit."""
    read, is_whole = rows_reader(ready, form), True
    while len(sent) - start > PART:
        end = sent.rfind(BETWEEN, start, start + PART) + 1
        some = read(sent[start:end]) if end else None
        if some is None:
            yield None
            return
        yield some
        start, is_whole = end + 1, False
    last = _last(sent[start:], form)
    # after a comma there must be one more
    yield _values(form, last) if last or (last is not None and is_whole) else None


def rows_reader(ready: Ready, form: Form) -> Callable[[bytes], Floats | None]:
    """What makes values of rows with a comma between each two; None of what does not fit."""
    (rows,) = (each for each in msgspec.structs.fields(form.decoder.type) if each.name == "rows")
    decoder = msgspec.json.Decoder(rows.type)

    def read(text: bytes) -> Floats | None:
        found = None
        if ready.reader is not None:
            found = read_rows(ready.reader, text + b"]", 0, len(text))
        if found is not None and found[1] == len(text) + 1:
            return found[0]
        try:
            return _values(form, decoder.decode(b"[" + text + b"]"))
        except UNREADABLE:
            return None

    return read


def _values(form: Form, rows: list[Any]) -> Floats:
    return values_of(form, form.decoder.type(rows=rows), len(rows))


def _last(rest: bytes, form: Form) -> list[Any] | None:
    """The rows at the end, and what is asked for after them."""
    if rest.count(b"]") != 1:  # where rows end, unless it stands in a text or they come again
        return None
    question = fitting(form, b'{"rows":[' + rest)
    if question is None or question.columns is not None or question.layout != "rows":
        return None
    if question.model is not None or question.version is not None:
        return None
    return question.rows
