"""Training: from the body of a job to a version's draft and its tree."""

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeAlias

from service.actions.request import TrainRequest, read_request
from service.errors import InvalidData
from service.storage.records import VersionDraft
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.costs import expected_costs, has_costs
from service.tree.dataset import Dataset, rows_of
from service.tree.evaluate import Fitted, fitted, nulled_report, report
from service.tree.folds import balanced_folds, hold_out
from service.tree.grow import ignore
from service.tree.learn import study
from service.tree.nodes import Tree
from service.tree.oddities import oddities
from service.tree.pruners import Learned, Task, strata
from service.tree.training import (
    CLASSIFICATION,
    REGRESSION,
    class_weights_of,
    make_dataset,
    validation_of,
)

Report: TypeAlias = Callable[[str, float, int], None]  # (stage, fraction of all, nodes so far)

EVALUATING = 0.3  # the part of the way that is left after the tree is there


@dataclass(frozen=True)
class Trained:
    """What a training makes; with a cost-complexity sequence the tree is its largest."""

    draft: VersionDraft
    tree: Tree


def train(body: bytes, max_nodes: int, report_progress: Report) -> Trained:
    """The tree that a stored request asks for, with what is to be known of it."""
    report_progress("encode", 0.0, 0)
    request = read_request(body)
    data = make_dataset(request.table, request.plan)
    grown = 1.0 if request.evaluation.method == "none" else 1.0 - EVALUATING
    task = Task(
        data,
        request.params,
        max_nodes,
        lambda fraction, nodes: report_progress("grow", grown * fraction, nodes),
        validation_of(request.table, request.plan),
        _is_late(request.params.seconds),
        class_weights_of(request.plan, data.classes),
    )
    learned = study(task)
    report_progress("evaluate", grown, len(learned.tree))
    metrics = {
        "evaluation": _evaluation(request, task),
        "training": _training(data, learned),
        "notes": learned.notes | _warnings(request, data),
    }
    return Trained(_draft(request, data, learned, metrics), learned.tree)


def _warnings(request: TrainRequest, data: Dataset) -> dict[str, Any]:
    odd = [asdict(each) for each in oddities(request.table, request.plan, data)]
    return {"warnings": odd} if odd else {}


def _is_late(seconds: float) -> Callable[[], bool]:
    end = time.monotonic() + seconds
    return lambda: time.monotonic() > end


def _draft(
    request: TrainRequest, data: Dataset, learned: Learned, metrics: dict[str, Any]
) -> VersionDraft:
    return VersionDraft(
        model=request.model,
        task=REGRESSION if data.is_regression else CLASSIFICATION,
        target=request.plan.target,
        classes=data.classes,
        attributes=data.attributes,
        ignored=request.plan.ignored,
        params={"preset": request.preset} | asdict(learned.params),
        metrics=metrics,
        n_rows=len(data.target),
        alpha=learned.alpha,
        group_costs=dict(data.group_costs),
    )


def _training(data: Dataset, learned: Learned) -> dict[str, Any]:
    """The metrics on the rows that were trained on: what they promise is seldom kept."""
    compiled = compile_tree(learned.served, data.attributes, data.classes, learned.params)
    told = report(data, [Fitted(compiled, (data.weights > 0).nonzero()[0])])
    if not has_costs(data.attributes):
        return told
    costs = expected_costs(compiled, data.values, "weighted", data.group_costs)
    return told | {"cost": float(costs @ data.weights / data.weights.sum())}


def _evaluation(request: TrainRequest, task: Task) -> dict[str, Any] | None:
    """The metrics on rows that were not trained on, as the request asks."""
    plan = request.evaluation
    if plan.method == "none":
        return None
    data = rows_of(task.data, task.data.weights > 0)
    # one budget for all folds: what is chosen late is chosen by less
    task = replace(task, validation=None, is_late=_is_late(task.params.seconds))
    told: dict[str, Any] = {"method": plan.method, "seed": plan.seed}
    if plan.method == "hold_out":
        folds = hold_out(strata(data), plan.fraction, plan.seed).astype(int) - 1
        told["fraction"] = plan.fraction
    else:
        folds = balanced_folds(strata(data), data.weights, plan.folds, plan.seed)
        told["folds"] = int(folds.max()) + 1
    trees = list(fitted(data, folds, lambda part: _fit(task, part)))
    if not trees:
        return None
    told |= report(data, trees)
    return told | {"nulls": nulled_report(data, trees, plan.seed)} if plan.nulled else told


def _fit(task: Task, part: Dataset) -> CompiledTree | None:
    """The tree of a part of the rows; None where they leave nothing to train on."""
    try:
        learned = study(replace(task, data=part, report=ignore))
    except InvalidData:
        return None
    return compile_tree(learned.served, part.attributes, part.classes, learned.params)
