"""A request to score: which dataset, how, and what to write; kept until the job has ended."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from service.actions.flat import NESTED, flat_names
from service.actions.request import Source
from service.errors import Fault, pointer
from service.storage.records import StoredDataset, Version
from service.tree.attribute import Attribute, Kind, category_text
from service.tree.encode import raise_faults
from service.tree.summary import ColumnSummary
from service.tree.table import DATASET, Table

# What CSV takes for a number: leading zeros make a code of it, and a column of categories.
NUMBER = re.compile(r"[+-]?(?!0[0-9])([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
SPACES = " \t"
NO_NUMBER = "must be a number"
EXACT = 2**53  # whole numbers beyond it make categories too


@dataclass(frozen=True)
class ScoreRequest:
    """Which dataset to score, how, and what to write."""

    source: Source
    first_line: int | None
    format: str
    keep: tuple[str, ...] = ()  # columns of the dataset that the result repeats
    missing: str = "weighted"
    strict: bool = False


def write_score(request: ScoreRequest) -> bytes:
    """The request as it is kept until the job has ended."""
    return orjson.dumps(asdict(request))


def read_score(body: bytes) -> ScoreRequest:
    """The request that was kept."""
    kept: dict[str, Any] = orjson.loads(body)
    source = Source(**kept.pop("source"))
    return ScoreRequest(source, **kept | {"keep": tuple(kept["keep"])})


def check_score(request: ScoreRequest, version: Version, dataset: StoredDataset) -> None:
    """InvalidData if it can be known now that the version cannot score the dataset."""
    raise_faults(_misfits(request, version, dataset), "The dataset cannot be scored.")


def _misfits(request: ScoreRequest, version: Version, dataset: StoredDataset) -> Iterator[Fault]:
    named = {column.name: column for column in dataset.columns}
    inputs = [named[each.name] for each in version.attributes if each.name in named]
    if not inputs:
        yield Fault("/dataset", "has no column that the model knows")
    elif request.strict and len(inputs) < len(version.attributes):
        absent = next(each.name for each in version.attributes if each.name not in named)
        yield Fault("/dataset", f"has no column {absent!r}; without strict it would be null")
    for each in version.attributes:
        if each.name in named:
            yield from _mistaken(each, named[each.name], dataset)
    taken = [*flat_names(version), *NESTED]
    for number, name in enumerate(request.keep):
        if name not in named:
            yield Fault(pointer("keep", number), f"the dataset has no column {name!r}")
        elif name in taken:
            yield Fault(pointer("keep", number), f"the result has a column {name!r} of its own")


def _mistaken(
    attribute: Attribute, column: ColumnSummary, dataset: StoredDataset
) -> Iterator[Fault]:
    """A column of texts for one of numbers, or of numbers for categories such as 1.50."""
    if attribute.kind == Kind.NUMERIC != column.kind and column.first_text is not None:
        table = Table({}, dataset.n_rows, DATASET, first_line=dataset.first_line)
        yield Fault("/dataset", table.fault(column.first_text, column.name, NO_NUMBER).detail)
    if attribute.kind != Kind.NUMERIC == column.kind and dataset.format == "csv":
        texts = [text for text in attribute.values if _is_rewritten(text)]
        if texts:
            detail = (
                f"the column {column.name!r} was taken for numbers, but the model knows the text"
                f" {texts[0]!r}; upload the file with categorical={column.name}"
            )
            yield Fault("/dataset", detail)


def _is_rewritten(text: str) -> bool:
    """Whether a text of CSV that is a number is another one once it was read as such."""
    bare = text.strip(SPACES)
    if not NUMBER.fullmatch(bare) or abs(float(bare)) > EXACT:
        return False
    return category_text(float(bare)) != text
