"""Learning: the tree that the params ask for."""

from dataclasses import replace

import numpy as np

from service.errors import Fault, InvalidData
from service.tree.arrays import Bools
from service.tree.auto import learn_auto
from service.tree.dataset import Dataset, null_share, rows_of
from service.tree.nodes import Tree
from service.tree.params import Params
from service.tree.pruners import PRUNERS, Learned, Task

MANY_ROWS = 200_000  # from which on cuts are searched by histograms, unless params say otherwise
MANY_DIVIDED = 50_000  # likewise where so much is null and divided: exact takes twice as long
MANY_NULLS = 0.2
LEARNERS = PRUNERS | {"auto": learn_auto}


def study(task: Task) -> Learned:
    """The tree that the params ask for, and what was found on the way."""
    if task.class_weights is not None and not task.data.is_regression:
        factors = task.class_weights[task.data.target.astype(np.int64)]
        weighed = replace(task.data, weights=task.data.weights * factors)
        task = replace(task, data=weighed, class_weights=None)
    task = _searching(_some_rows(task, task.data.weights > 0))
    # one row leaves nothing to validate with
    learner = LEARNERS[task.params.pruning if len(task.data.target) > 1 else "none"]
    if task.params.missing != "drop":
        return learner(task)
    complete: Bools = np.asarray(~np.isnan(task.data.values).any(axis=1))
    if not complete.any():
        detail = "every row has a null: with missing = drop there is nothing left to train on"
        raise InvalidData(detail, [Fault("/params/missing", detail)])
    learned = learner(_some_rows(task, complete))
    dropped = {"rows_dropped": int((~complete).sum())}
    return replace(learned, notes=learned.notes | dropped)


def _searching(task: Task) -> Task:
    """The task whose params say how cuts are searched."""
    if task.params.search != "auto":
        return task
    is_large = task.params.rules == "textbook" and _is_large(task)
    return replace(task, params=replace(task.params, search="histogram" if is_large else "exact"))


def _is_large(task: Task) -> bool:
    """Whether histograms take much less time, and memory: a divided row is many."""
    n_rows = len(task.data.target)
    if n_rows < MANY_DIVIDED or task.params.missing != "fractional":
        return n_rows >= MANY_ROWS
    return n_rows >= MANY_ROWS or null_share(task.data) >= MANY_NULLS


def _some_rows(task: Task, chosen: Bools) -> Task:
    if chosen.all():
        return task
    validation = None if task.validation is None else task.validation[chosen]
    return replace(task, data=rows_of(task.data, chosen), validation=validation)


def learn(data: Dataset, params: Params) -> Tree:
    """The tree that answers, if nothing else is asked for."""
    return study(Task(data, params)).served
