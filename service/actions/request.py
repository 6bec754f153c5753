"""A request to train, as it is kept until the job has ended."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import orjson

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
class TrainRequest:
    """What to train: the data, what its columns are, and how to grow."""

    model: str
    plan: Plan
    table: Table
    preset: str
    params: Params
    overrides: Mapping[str, Any] = field(default_factory=dict)  # of the preset, by name
    evaluation: EvaluationPlan = EvaluationPlan()


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
        table=Table(kept["columns"], kept["n_rows"], tuple(kept["place"])),
        preset=kept["preset"],
        params=Params(**kept["params"]),
        # a job that was queued by an earlier release has neither
        overrides=kept.get("overrides", {}),
        evaluation=EvaluationPlan(**kept.get("evaluation", {"method": "none"})),
    )


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
