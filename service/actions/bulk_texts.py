"""Answers in bulk as JSON: a line for each row, or one object around all of them."""

from collections.abc import Iterator
from itertools import chain

import orjson

from service.actions.bulk import Asked, Block
from service.actions.predict import answer_to, by_row
from service.actions.ready import written
from service.actions.reply import many
from service.errors import Fault
from service.tree.encode import MOST_FAULTS


def write_lines(asked: Asked, blocks: Iterator[Block]) -> Iterator[bytes]:
    """A line for each row; where a value is no category the line has `warnings`."""
    for block in blocks:
        texts = _texts(asked, block)
        for row, warnings in _by_row(block).items():
            texts[row] = b'%b,"warnings":%b}' % (texts[row][:-1], orjson.dumps(warnings))
        yield b"\n".join([*texts, b""])


def write_object(asked: Asked, blocks: Iterator[Block]) -> Iterator[bytes]:
    """The answer that JSON is given."""
    warnings: dict[str, list[Fault]] = {}
    yield asked.ready.head
    start = b"["
    for block in blocks:
        yield start + b",".join(_texts(asked, block))
        start = b","
        for name, rows in block.strangers.items():
            told = warnings.setdefault(name, [])
            told += [block.warning(row, name) for row in rows[: MOST_FAULTS - len(told)]]
    names = [each.name for each in asked.ready.loaded.version.attributes]
    first = [*chain.from_iterable(warnings.get(name, ()) for name in names)][:MOST_FAULTS]
    start = b"[" if start == b"[" else b""
    yield b'%b],"warnings":%b}\n' % (start, orjson.dumps(first))


def _texts(asked: Asked, block: Block) -> list[bytes]:
    if asked.is_usual:
        return many(asked.ready, block.values)
    return written(by_row(answer_to(asked.ready.loaded, block.values, asked.missing, ())))


def _by_row(block: Block) -> dict[int, list[Fault]]:
    warnings: dict[int, list[Fault]] = {}
    for name, rows in block.strangers.items():
        for row in rows:
            warnings.setdefault(row, []).append(block.warning(row, name))
    return warnings
