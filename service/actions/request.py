"""A request to train, as it is kept until the job has ended."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

from service.storage.records import StoredDataset
from service.tree.encode import Declaration
from service.tree.params import Params
from service.tree.table import Table
from service.tree.training import Plan


@dataclass(frozen=True)
class EvaluationPlan:
    """How a version is to be evaluated: on rows held out, by cross-validation, or not at all."""

    method: str = "hold_out"
    folds: int = 10
    fraction: float = 0.3
    seed: int = 0
    nulled: bool = True  # also after a part of each attribute's values was taken away


@dataclass(frozen=True)
class Source:
    """A dataset to read, and the checksum that its file must have."""

    dataset: str
    file: str
    checksum: str


def source_of(dataset: StoredDataset) -> Source:
    """What has to be known to read a dataset."""
    return Source(dataset.id, dataset.file.name, dataset.file.checksum)


@dataclass(frozen=True)
class TrainRequest:
    """What to train: the data, what its columns are, and how to grow."""

    model: str
    plan: Plan
    table: Table  # of a dataset it has no columns before its file is opened
    preset: str
    params: Params
    overrides: Mapping[str, Any] = field(default_factory=dict)  # of the preset, by name
    evaluation: EvaluationPlan = EvaluationPlan()
    source: Source | None = None  # None: the table was sent with the order


def write_request(request: TrainRequest) -> bytes:
    """The request as it is kept until the job has ended, without the values it ignores."""
    ignored = {each.name for each in request.plan.declared if each.kind == "ignored"}
    # an ignored column may hold anything, also what is nested too deeply to be written
    columns = {
        name: [] if name in ignored else values for name, values in request.table.columns.items()
    }
    return orjson.dumps(
        {
            "model": request.model,
            "plan": asdict(request.plan),
            "columns": columns,
            "n_rows": request.table.n_rows,
            "place": request.table.place,
            "first_line": request.table.first_line,
            "source": request.source and asdict(request.source),
            "preset": request.preset,
            "params": asdict(request.params),
            "overrides": dict(request.overrides),
            "evaluation": asdict(request.evaluation),
        }
    )


def read_request(body: bytes) -> TrainRequest:
    """The request that was kept."""
    kept: dict[str, Any] = orjson.loads(body)
    return TrainRequest(
        model=kept["model"],
        plan=_read_plan(kept["plan"]),
        table=_read_table(kept),
        preset=kept["preset"],
        params=Params(**kept["params"]),
        # a job that was queued by an earlier release has neither
        overrides=kept.get("overrides", {}),
        evaluation=EvaluationPlan(**kept.get("evaluation", {"method": "none"})),
        source=Source(**kept["source"]) if kept.get("source") else None,
    )


def _read_table(kept: dict[str, Any]) -> Table:
    place, line = tuple(kept["place"]), kept.get("first_line")
    return Table(kept["columns"], kept["n_rows"], place, first_line=line)


def _read_plan(kept: dict[str, Any]) -> Plan:
    declared = tuple(
        Declaration(**each | {"values": _tuple(each["values"])}) for each in kept["declared"]
    )
    return Plan(
        **kept
        | {
            "declared": declared,
            "classes": _tuple(kept["classes"]),
            "validation_rows": tuple(kept.get("validation_rows", ())),
        }
    )


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
