"""A CSV that comes as a stream: its header, then one record after the other, each with its line."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain
from typing import BinaryIO, cast

from service.files.reading.csv_header import delimiter_of, first_record, layout_of
from service.files.reading.csv_lines import LONGEST_RECORD, Layout, records
from service.files.records import Ingestion


@dataclass(frozen=True)
class Records:
    """The records after a header."""

    layout: Layout
    line: int  # of the header
    rows: Iterator[tuple[int, list[str]]]


def open_records(source: io.RawIOBase, order: Ingestion) -> Records:
    """The records of a CSV, which is read once and forwards."""
    # what is not UTF-8 is kept as lone surrogates, so that the record can be told
    text = io.TextIOWrapper(cast(BinaryIO, source), "utf-8-sig", "surrogateescape", newline="")
    lines = iter(lambda: text.readline(LONGEST_RECORD + 1), "")
    n_blank, first = 0, ""
    for first in lines:
        if first.strip("\r\n"):
            break
        n_blank += 1
    delimiter = delimiter_of(first, order)
    found = _shifted(records(chain([first], lines), delimiter), n_blank)
    line, names = first_record(found)
    return Records(layout_of(line, names, delimiter, order), line, found)


def _shifted(
    found: Iterator[tuple[int, list[str]]], n_lines: int
) -> Iterator[tuple[int, list[str]]]:
    return ((line + n_lines, record) for line, record in found)
