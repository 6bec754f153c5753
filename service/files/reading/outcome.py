"""What a process is told of the file it is to read, and what it tells of it: JSON both ways."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import orjson

from service.errors import InvalidFile, LimitReached, Misfit, NoRoom
from service.files.records import Ingested, Ingestion
from service.tree.summary import ColumnSummary

LISTS = ("nulls", "numeric", "categorical")  # of an order, where they are tuples


@dataclass(frozen=True)
class Errand:
    """What the process is to do, for whom, and within which memory."""

    order: Ingestion
    parent: int  # the process that wants it; without it, there is no need
    memory_bytes: int  # beyond what the bare process takes; 0: any


@dataclass(frozen=True)
class OutOfMemory:
    """The file would have taken more memory than it may."""


@dataclass(frozen=True)
class Broken:
    """An error nobody foresaw; of its text nothing is told, as it may hold values of the data."""

    kind: str
    trace: tuple[str, ...]


Outcome: TypeAlias = Ingested | InvalidFile | LimitReached | NoRoom | OutOfMemory | Broken


def dump_errand(errand: Errand) -> bytes:
    """The errand as it is sent."""
    return orjson.dumps(errand)


def load_errand(sent: bytes) -> Errand:
    """The errand that was sent."""
    told = orjson.loads(sent)
    order = told["order"] | {name: tuple(told["order"][name]) for name in LISTS}
    return Errand(Ingestion(**order), told["parent"], told["memory_bytes"])


def dump_outcome(outcome: Outcome) -> bytes:
    """The outcome as it is sent."""
    told: Any = outcome
    if isinstance(outcome, InvalidFile):
        told = {"detail": str(outcome), "misfits": outcome.misfits}
    elif isinstance(outcome, LimitReached | NoRoom):
        told = {"detail": str(outcome)}
    return orjson.dumps({type(outcome).__name__: told})


def load_outcome(sent: bytes) -> Outcome | None:
    """The outcome that was sent; None if it is none, or not all of it came."""
    try:
        ((kind, told),) = orjson.loads(sent).items()
        return LOADERS[kind](told)
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _ingested(told: dict[str, Any]) -> Ingested:
    columns = tuple(ColumnSummary(**each) for each in told["columns"])
    return Ingested(**told | {"columns": columns, "warnings": _misfits(told["warnings"])})


def _misfits(told: list[dict[str, Any]]) -> tuple[Misfit, ...]:
    return tuple(Misfit(**each) for each in told)


LOADERS: dict[str, Callable[[Any], Outcome]] = {
    "Ingested": _ingested,
    "InvalidFile": lambda told: InvalidFile(told["detail"], _misfits(told["misfits"])),
    "LimitReached": lambda told: LimitReached(told["detail"]),
    "NoRoom": lambda told: NoRoom(told["detail"]),
    "OutOfMemory": lambda told: OutOfMemory(**told),
    "Broken": lambda told: Broken(told["kind"], tuple(told["trace"])),
}
