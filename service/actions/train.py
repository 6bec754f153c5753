"""Training: from the body of a job to a version's draft and its tree."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import orjson

from service.storage.records import VersionDraft
from service.tree.encode import IGNORED, Declaration
from service.tree.grow import grow
from service.tree.nodes import Tree
from service.tree.params import GrowParams
from service.tree.table import Table
from service.tree.training import Plan, make_dataset

Report: TypeAlias = Callable[[str, float, int], None]  # (stage, fraction of it, nodes so far)


@dataclass(frozen=True)
class TrainRequest:
    """What to train: the data, what its columns are, and how to grow."""

    model: str
    plan: Plan
    table: Table
    preset: str
    params: GrowParams


@dataclass(frozen=True)
class Trained:
    """What a training makes."""

    draft: VersionDraft
    tree: Tree


def train(body: bytes, max_nodes: int, report: Report) -> Trained:
    """The tree that a stored request asks for, with what is to be known of it."""
    report("encode", 0.0, 0)
    request = read_request(body)
    data = make_dataset(request.table, request.plan)
    tree = grow(
        data, request.params, max_nodes, lambda fraction, nodes: report("grow", fraction, nodes)
    )
    draft = VersionDraft(
        model=request.model,
        task="classification",
        target=request.plan.target,
        classes=data.classes,
        attributes=data.attributes,
        ignored=request.plan.ignored,
        params={"preset": request.preset} | asdict(request.params),
        metrics={},
        n_rows=len(data.target),
    )
    return Trained(draft, tree)


def write_request(request: TrainRequest) -> bytes:
    """The request as it is kept until the job has ended."""
    return orjson.dumps(
        {
            "model": request.model,
            "plan": asdict(request.plan),
            "columns": _kept_columns(request),
            "n_rows": request.table.n_rows,
            "place": request.table.place,
            "preset": request.preset,
            "params": asdict(request.params),
        }
    )


def _kept_columns(request: TrainRequest) -> dict[str, Sequence[Any]]:
    # An ignored column may hold anything, also what is nested too deeply to be written.
    ignored = {each.name for each in request.plan.declared if each.kind == IGNORED}
    columns = request.table.columns.items()
    return {name: values for name, values in columns if name not in ignored}


def read_request(body: bytes) -> TrainRequest:
    """The request that was kept."""
    kept: dict[str, Any] = orjson.loads(body)
    return TrainRequest(
        model=kept["model"],
        plan=_read_plan(kept["plan"]),
        table=Table(kept["columns"], kept["n_rows"], tuple(kept["place"])),
        preset=kept["preset"],
        params=GrowParams(**kept["params"]),
    )


def _read_plan(kept: dict[str, Any]) -> Plan:
    declared = tuple(
        Declaration(each["name"], each["kind"], _tuple(each["values"])) for each in kept["declared"]
    )
    return Plan(kept["target"], declared, _tuple(kept["classes"]), kept["weight"])


def _tuple(values: list[str] | None) -> tuple[str, ...] | None:
    return None if values is None else tuple(values)
