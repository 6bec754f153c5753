"""A request to score: which dataset, how, and what to write; kept until the job has ended."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import orjson

from service.actions.flat import flat_names
from service.actions.request import Source
from service.errors import Fault, pointer
from service.storage.records import StoredDataset, Version
from service.tree.attribute import Kind
from service.tree.encode import raise_faults
from service.tree.table import DATASET, Table


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
    table = Table({}, dataset.n_rows, DATASET, first_line=dataset.first_line)
    inputs = [named[each.name] for each in version.attributes if each.name in named]
    if not inputs:
        yield Fault("/dataset", "has no column that the model knows")
    elif request.strict and len(inputs) < len(version.attributes):
        absent = next(each.name for each in version.attributes if each.name not in named)
        yield Fault("/dataset", f"has no column {absent!r}; without strict it would be null")
    for each in version.attributes:
        column = named.get(each.name)
        if column and each.kind == Kind.NUMERIC != column.kind and column.first_text is not None:
            spot = table.fault(column.first_text, each.name, "must be a number")
            yield Fault("/dataset", spot.detail)
    taken = flat_names(version)
    for number, name in enumerate(request.keep):
        if name not in named:
            yield Fault(pointer("keep", number), f"the dataset has no column {name!r}")
        elif name in taken:
            yield Fault(pointer("keep", number), f"the result has a column {name!r} of its own")
