"""Asking: from the bytes of a question to those of its answer, where the question is ordinary."""

import re
from collections.abc import Callable
from typing import Annotated, TypeAlias

import msgspec

from service.actions.form import UNREADABLE, Form, Question, count_rows, fitting
from service.actions.names import Selected
from service.actions.reading import Read, read_columns, read_rows
from service.actions.ready import Ready
from service.actions.reply import reply, reply_to
from service.settings import Settings
from service.storage.records import LARGEST

Find: TypeAlias = Callable[[Selected], Ready | None]
# The model, and the version after it, where a body has them at its start.
START = re.compile(
    rb'\s*\{\s*(?:"model"\s*:\s*"([^"\\]*)"\s*,\s*)?(?:"version"\s*:\s*([1-9][0-9]{0,8})\s*,)?'
)


def _spaced(pattern: str) -> re.Pattern[bytes]:
    """The pattern in which a space stands for all blanks that JSON may have there."""
    return re.compile(pattern.replace(" ", r"[ \t\n\r]*").encode())


WORTH = 4_000  # bytes of a body from which on native code reads it sooner
# A body up to the inside of its rows or columns, and from there on, as they mostly are.
OPENING = _spaced(
    r' \{ (?:"model" : "([^"\\\x00-\x1f]*)" , )?(?:"version" : ([1-9][0-9]{0,8}) , )?'
    r'"(rows|columns)" : ([\[{])'
)
CLOSING = _spaced(r' (?:, "layout" : "(rows|columns)" )?\} ')
READERS: dict[bytes, Read] = {b"rows[": read_rows, b"columns{": read_columns}


class Head(msgspec.Struct):
    """What a body says of the version that is asked, wherever it says so."""

    model: str | None = None
    version: Annotated[int, msgspec.Meta(ge=1, le=LARGEST)] | None = None


HEADS = msgspec.json.Decoder(Head)


def ask(sent: bytes, name: str | None, find: Find, settings: Settings) -> bytes | None:
    """The answer to a question; None where that does not fit the form of its version.

    The model's name stands in the body if it is not given here. Whoever finds versions may give
    None for one that is not at hand.
    """
    answer = ask_natively(sent, name, find, settings) if len(sent) >= WORTH else None
    if answer is not None:
        return answer
    tried = None
    for look in (at_the_start, _throughout):  # the first takes nothing, the second half a reading
        selected = look(sent, name)
        if selected is None or selected == tried:
            continue
        tried, ready = selected, find(selected)
        if ready is None or ready.form is None:
            continue
        question = fitting(ready.form, sent)
        if question is not None and meant(question, name) == selected:
            return _answer(ready, ready.form, question, settings)
    return None


def ask_natively(sent: bytes, name: str | None, find: Find, settings: Settings) -> bytes | None:
    """The answer to a question that native code can read; None where it cannot."""
    opening = OPENING.match(sent)
    if opening is None or (opening[1] is None) == (name is None):
        return None
    try:
        named = name or opening[1].decode()
    except UnicodeDecodeError:
        return None
    ready = find((named, int(opening[2]) if opening[2] else None))
    read = READERS.get(opening[3] + opening[4])
    if read is None or ready is None or ready.form is None or ready.reader is None:
        return None
    found = read(ready.reader, sent, opening.end(), most_rows(ready, ready.form, settings))
    closing = None if found is None else CLOSING.fullmatch(sent, found[1])
    if found is None or closing is None or len(found[0]) == 0:
        return None
    return reply_to(ready, found[0], (closing[1] or b"rows").decode())


def _answer(ready: Ready, form: Form, question: Question, settings: Settings) -> bytes | None:
    n_rows = count_rows(question)
    if n_rows is None or n_rows > most_rows(ready, form, settings):
        return None
    return reply(ready, form, question, n_rows)


def most_rows(ready: Ready, form: Form, settings: Settings) -> int:
    """How many rows are surely within all limits: not all names need be there."""
    return min(
        settings.max_predict_rows,
        settings.max_train_cells // form.n_names,
        settings.max_answer_cells // max(len(ready.loaded.version.classes), 1),
    )


def at_the_start(sent: bytes, name: str | None) -> Selected | None:
    """The version that a body names before all else, if the address does not."""
    found = START.match(sent)
    if found is None:
        return None
    model, version = found.groups()
    if name is None and model is not None:
        name = model.decode(errors="replace")
    return None if name is None else (name, None if version is None else int(version))


def _throughout(sent: bytes, name: str | None) -> Selected | None:
    try:
        head = HEADS.decode(sent)
    except UNREADABLE:
        return None
    named = head.model if name is None else name
    return None if named is None else (named, head.version)


def meant(question: Question, name: str | None) -> Selected | None:
    """The version that a question asks, now that it is read; None if it is not named once."""
    named = [each for each in (question.model, name) if each is not None]
    return (named[0], question.version) if len(named) == 1 else None
