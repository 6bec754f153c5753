"""The header of a CSV file: the names of its columns, and what stands between them."""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass

from service.errors import InvalidFile, Misfit
from service.files.reading.csv_lines import (
    LONGEST_RECORD,
    NOT_UTF8,
    Layout,
    Unreadable,
    is_utf8,
    n_bytes,
    records,
)
from service.files.reading.names import check_names
from service.files.reading.unpack import BOM
from service.files.records import Ingestion

DELIMITERS = ",;\t|"  # in the order in which they are preferred
FIRST_LINE = re.compile(r"[^\r\n]+")
QUOTED = re.compile(r'"[^"]*"')


@dataclass(frozen=True)
class Header:
    """The header, and how many bytes of the file it takes, with what stands before it."""

    layout: Layout
    n_bytes: int


def read_header(head: bytes, order: Ingestion) -> Header:
    """The header at the beginning of a file, of which no more is needed than one record."""
    start = len(BOM) if head.startswith(BOM) else 0
    text = head[start:].decode(errors="surrogateescape")
    delimiter = delimiter_of(text, order)
    lines = io.StringIO(text, newline="")  # ends of lines stay what they are
    line, names = first_record(records(iter(lines), delimiter))
    if len(head) > LONGEST_RECORD and lines.tell() == len(text):
        raise _unreadable(line, "it does not end")
    layout = layout_of(line, names, delimiter, order)
    return Header(layout, start + n_bytes(text[: lines.tell()]))


def first_record(found: Iterator[tuple[int, list[str]]]) -> tuple[int, list[str]]:
    """The first of some records, with its line; the others are left."""
    try:
        return next(found, (1, []))
    except Unreadable as error:
        raise _unreadable(error.line, error.detail) from None


def layout_of(line: int, names: list[str], delimiter: str, order: Ingestion) -> Layout:
    """The layout of the records under a header."""
    if not names:
        raise InvalidFile("The file is empty.")
    if not is_utf8("".join(names)):
        raise _unreadable(line, NOT_UTF8)
    check_names(names, order, line)
    return Layout(tuple(names), delimiter)


def delimiter_of(text: str, order: Ingestion) -> str:
    """The delimiter that was asked for, or else the one that the first line has most of."""
    if order.delimiter:
        return _checked(order.delimiter)
    first = FIRST_LINE.search(text)
    bare = QUOTED.sub("", first.group() if first else "")  # outside quotes
    return max(DELIMITERS, key=bare.count)


def _checked(delimiter: str) -> str:
    is_usable = len(delimiter) == 1 and delimiter.isascii() and delimiter != '"'
    if is_usable and (delimiter.isprintable() or delimiter == "\t"):
        return delimiter
    raise InvalidFile("The delimiter must be one ASCII character, a tab or one that is printed.")


def _unreadable(line: int, detail: str) -> InvalidFile:
    return InvalidFile(f"The header cannot be read: {detail}.", [Misfit(line, None, detail)])
