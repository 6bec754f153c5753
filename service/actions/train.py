"""Training: from the body of a job to a version's draft and its tree."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from functools import partial
from itertools import count
from typing import Any

from service.actions.request import EvaluationPlan, TrainRequest, read_request
from service.actions.results import Report, Trained
from service.errors import InvalidData
from service.files.columns import dataset_table
from service.files.place import Place
from service.points import passing
from service.storage.records import Progress, VersionDraft
from service.tree.arrays import Ints
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.costs import expected_costs, has_costs
from service.tree.dataset import Dataset, rows_of
from service.tree.evaluate import Fitted, fitted, nulled_report, report
from service.tree.folds import balanced_folds, hold_out
from service.tree.learn import study
from service.tree.oddities import oddities
from service.tree.pruners import Learned, Task, strata
from service.tree.table import Table
from service.tree.training import (
    CLASSIFICATION,
    REGRESSION,
    Plan,
    class_weights_of,
    make_dataset,
    validation_of,
)
from service.tree.walk import answers, walk


@dataclass(frozen=True)
class Way:
    """The way of a training in steps of about the same length, told to whoever waits for it."""

    report: Report
    n_steps: int
    n_rows: int

    def tell(self, stage: str, steps: float, nodes: int) -> None:
        """So many steps are done."""
        self.report(Progress(min(steps / self.n_steps, 1.0), stage, nodes, self.n_rows))


def train(
    body: bytes, max_nodes: int, report_progress: Report, *, place: Place | None = None
) -> Trained:
    """The tree that a stored request asks for, with what is to be known of it.

    The place is that of datasets; without one only data that came with the request is known.
    """
    report_progress(Progress(stage="encode"))
    passing("child-encode")
    request = read_request(body)
    with _opened(request, place) as table:
        data = make_dataset(table, request.plan)
        warnings = _warnings(table, request.plan, data)
    way = Way(report_progress, _n_steps(request.evaluation), len(data.target))
    way.tell("grow", 0.0, 0)
    task = Task(
        data,
        request.params,
        max_nodes,
        partial(way.tell, "grow"),
        validation_of(request.table, request.plan),
        _is_late(request.params.seconds),
        class_weights_of(request.plan, data.classes),
    )
    passing("child-grow")
    learned = study(task)
    evaluating = partial(way.tell, "evaluate", nodes=len(learned.tree))
    evaluating(1.0)
    passing("child-evaluate")
    metrics = {
        "evaluation": _evaluation(request, task, evaluating),
        "training": _training(data, learned),
        "notes": learned.notes | warnings,
    }
    return Trained(_draft(request, data, learned, metrics), learned.tree)


def _n_steps(plan: EvaluationPlan) -> int:
    """Growing is a step, also for each tree of the evaluation; the nulls are one more."""
    return 1 + _n_trees(plan) + int(plan.method != "none" and plan.nulled)


def _n_trees(plan: EvaluationPlan) -> int:
    return {"none": 0, "hold_out": 1, "cross_validation": plan.folds}[plan.method]


@contextmanager
def _opened(request: TrainRequest, place: Place | None) -> Iterator[Table]:
    """The table to train on; that of a dataset is read column by column from its file."""
    if request.source is None:
        yield request.table
        return
    if place is None:
        raise InvalidData("There is no place to read datasets from.")
    with place.verified(request.source.file, request.source.checksum) as opened:
        yield dataset_table(opened, request.table.first_line)


def _warnings(table: Table, plan: Plan, data: Dataset) -> dict[str, Any]:
    odd = [asdict(each) for each in oddities(table, plan, data)]
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
    told = report(data, [Fitted(compiled, (data.weights > 0).nonzero()[0])], answers)
    if not has_costs(data.attributes):
        return told
    costs = expected_costs(compiled, data.values, "weighted", data.group_costs, walk)
    return told | {"cost": float(costs @ data.weights / data.weights.sum())}


def _evaluation(
    request: TrainRequest, task: Task, evaluating: Callable[[float], None]
) -> dict[str, Any] | None:
    """The metrics on rows that were not trained on, as the request asks."""
    plan = request.evaluation
    if plan.method == "none":
        return None
    data = rows_of(task.data, task.data.weights > 0)
    # one budget for all folds: what is chosen late is chosen by less
    task = replace(task, validation=None, is_late=_is_late(task.params.seconds))
    folds, told = _folds(plan, data)
    steps = count(1)
    trees = list(fitted(data, folds, lambda part: _fit(task, part, evaluating, next(steps))))
    if not trees:
        return None
    evaluating(1.0 + _n_trees(plan))
    told |= report(data, trees, answers)
    return told | {"nulls": nulled_report(data, trees, plan.seed, answers)} if plan.nulled else told


def _folds(plan: EvaluationPlan, data: Dataset) -> tuple[Ints, dict[str, Any]]:
    """Per row its fold, and what is to be known of the folds."""
    told: dict[str, Any] = {"method": plan.method, "seed": plan.seed}
    if plan.method == "hold_out":
        folds = hold_out(strata(data), plan.fraction, plan.seed).astype(int) - 1
        return folds, told | {"fraction": plan.fraction}
    folds = balanced_folds(strata(data), data.weights, plan.folds, plan.seed)
    return folds, told | {"folds": int(folds.max()) + 1}


def _fit(
    task: Task, part: Dataset, evaluating: Callable[[float], None], done: int
) -> CompiledTree | None:
    """The tree of a part of the rows; None where they leave nothing to train on."""
    task = replace(task, data=part, report=lambda fraction, _nodes: evaluating(done + fraction))
    try:
        learned = study(task)
    except InvalidData:
        return None
    return compile_tree(learned.served, part.attributes, part.classes, learned.params)
