"""Ways of learning: grow, and prune in one of six ways; what was found on the way is told."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.binned import Binned, bin_columns, some_rows
from service.tree.c45 import C45
from service.tree.confirmed import confirmed
from service.tree.context import Context, make_context
from service.tree.cost_complexity import merged, risk_of, sequence, with_alpha_cut
from service.tree.cross_validation import Validated, chosen_alpha, cross_validated
from service.tree.cut import at_alpha
from service.tree.dataset import Dataset, rows_of
from service.tree.engine import Report, Yield
from service.tree.folds import balanced_folds, hold_out, quantile_strata
from service.tree.growing import grow_nodes, ignore
from service.tree.grown import Grown
from service.tree.histogram import grow_binned
from service.tree.nodes import Tree
from service.tree.params import Params
from service.tree.parts import Part, whole
from service.tree.penalised import default_alpha, penalised
from service.tree.pessimism import collapse, prune
from service.tree.presort import Presorted, picked, presort
from service.tree.reduced_error import reduced_error
from service.tree.rpart_order import is_rpart
from service.tree.thaw import grown_of

MOST_ALPHAS = 500  # of a sequence that are judged by cross-validation


@dataclass(frozen=True)
class Task:
    """What there is to learn from, and how."""

    data: Dataset
    params: Params
    max_nodes: int = 1_000_000
    report: Report = ignore
    validation: Bools | None = None  # the rows held out by pruning that needs them; None: drawn
    is_late: Callable[[], bool] = lambda: False  # whether the time for choosing is up
    class_weights: Floats | None = None  # per class the factor of its rows' weights
    columns: Presorted | None = None  # all rows sorted, where many trees are grown from them
    bins: Binned | None = None  # or all rows in bins


@dataclass(frozen=True)
class Learned:
    """A tree, and what is to be known of how it came about.

    With a cost-complexity sequence this is its largest tree; `alpha` says which one is served.
    """

    tree: Tree
    params: Params
    notes: dict[str, Any] = field(default_factory=dict)
    alpha: float | None = None

    @property
    def served(self) -> Tree:
        """The tree that answers."""
        return self.tree if self.alpha is None else at_alpha(self.tree, self.alpha)


Pruner: TypeAlias = Callable[[Task], Learned]


def grown_tree(context: Context, part: Part, task: Task) -> Grown:
    """The tree of these rows; collapsed where the params ask."""
    grown = grown_of(context, part, _nodes(context, part, task))
    return collapse(grown) if context.params.collapse else grown


def _nodes(context: Context, part: Part, task: Task) -> Yield:
    if context.params.search == "histogram":
        bins = _bins(task, part)
        return grow_binned(context, bins, part.weights, task.max_nodes, task.report)
    columns = _columns(task, part)
    made = grow_nodes(context, columns, part.weights, task.max_nodes, task.report)
    return replace(made, known=columns.known if len(part.rows) == context.n_rows else None)


def _columns(task: Task, part: Part) -> Presorted:
    """The rows of a part, sorted by each attribute; picked from all rows where these are sorted.

    By rpart's rules they are: what is equal stands as it does among all rows.
    """
    as_rpart, n_rows = is_rpart(task.params), np.count_nonzero(task.data.weights > 0)
    if task.columns is None and (not as_rpart or len(part.rows) == n_rows):
        return _presorted(task, part.rows)
    columns = _sorted(task)
    return picked(columns, _chosen(task, part)[columns.rows])


def _begun(task: Task) -> Callable[[], None]:
    """What tells that a tree is about to be grown."""
    return partial(task.report, 0.0, 1)


def _sorted(task: Task) -> Presorted:
    """All rows that have any weight, sorted by each attribute."""
    rows = np.flatnonzero(task.data.weights > 0)
    return task.columns or _presorted(task, rows)


def _presorted(task: Task, rows: Ints) -> Presorted:
    as_rpart, is_cautious = is_rpart(task.params), task.params.rules in C45
    return presort(task.data, rows, _begun(task), as_rpart=as_rpart, is_cautious=is_cautious)


def _bins(task: Task, part: Part) -> Binned:
    """The rows of a part in bins; picked from all rows where these are in bins."""
    if task.bins is None:
        return bin_columns(task.data, part.rows, task.params.bins, _begun(task))
    return some_rows(task.bins, _chosen(task, part)[task.bins.columns.rows])


def _chosen(task: Task, part: Part) -> Bools:
    chosen = np.zeros(len(task.data.weights), dtype=bool)
    chosen[part.rows] = True
    return chosen


def sorted_once(task: Task, search: str | None = None) -> Task:
    """The task with its rows sorted, or in bins, for many trees to be grown from them."""
    rows = np.flatnonzero(task.data.weights > 0)
    if (search or task.params.search) == "histogram":
        return replace(task, bins=_bins(task, Part(rows, task.data.weights[rows])))
    return replace(task, columns=_sorted(task))


def sequence_tree(task: Task, rows: Ints | None = None) -> Tree:
    """The full tree of all rows, or of those outside a fold; its nodes have their alphas.

    A fold's tree shares what was settled once on all rows, as rpart has it.
    """
    part = None if rows is None else Part(rows, task.data.weights[rows])
    context = make_context(task.data, task.params, part)
    grown = grown_tree(context, part or whole(task.data), task)
    return with_alpha_cut(grown.tree, task.params.links, _risks(context, grown))


def _risks(context: Context, grown: Grown) -> Floats:
    """Per node its risk; by rpart's rules to the last bit, which decides between equal alphas."""
    return risk_of(grown.tree, context.params.risk) if grown.risks is None else grown.risks


def _grown(task: Task) -> Grown:
    return grown_tree(make_context(task.data, task.params), whole(task.data), task)


def learn_unpruned(task: Task) -> Learned:
    """The full tree."""
    return Learned(_grown(task).tree, task.params)


def learn_pessimistic(task: Task) -> Learned:
    """The tree pruned by what its leaves are believed to get wrong."""
    context = make_context(task.data, task.params)
    return Learned(prune(context, grown_tree(context, whole(task.data), task)), task.params)


def learn_hold_out(task: Task) -> Learned:
    """The tree in which every split made the held-out rows be predicted better."""
    held = _held(task) & (task.data.weights > 0)
    training = np.flatnonzero(~held & (task.data.weights > 0))
    kept = np.flatnonzero(held)
    context = make_context(task.data, task.params)
    part = Part(training, task.data.weights[training])
    validation = Part(kept, task.data.weights[kept])
    grown = grown_tree(context, part, replace(task, columns=None, bins=None))
    return Learned(confirmed(context, grown, validation), task.params)


def learn_reduced_error(task: Task) -> Learned:
    """The tree cut back where the held-out rows are predicted no worse without the subtree."""
    held = _held(task)
    tree = _grown(replace(task, data=rows_of(task.data, ~held))).tree
    validation = rows_of(task.data, held)
    pruned = reduced_error(tree, validation, prune_ties=task.params.prune_ties)
    return Learned(pruned, task.params)


def learn_penalised(task: Task) -> Learned:
    """The tree of the smallest penalised loss."""
    tree = _grown(task).tree
    alpha = default_alpha(tree) if task.params.alpha is None else task.params.alpha
    return Learned(penalised(tree, alpha), task.params, {"penalty": alpha})


def learn_cost_complexity(task: Task) -> Learned:
    """The tree of the cost-complexity sequence at the given or a cross-validated alpha."""
    params = task.params
    n_steps = 1 + (params.folds if params.alpha is None else 0)
    task = sorted_once(task) if n_steps > 1 else task
    tree = merged(sequence_tree(_step(task, 0, n_steps)), params.risk)
    found = sequence(tree, params.risk)
    table = {"alpha": found.alphas, "leaves": found.n_leaves, "risk": found.risks}
    alpha = params.alpha
    if alpha is None:
        validated = _validated(task, _spread(found.alphas))
        table |= {
            "validated_alpha": validated.alphas,
            "validated_risk": validated.risks,
            "standard_error": validated.errors,
        }
        alpha = chosen_alpha(validated, params.standard_errors)
    notes = {
        "alpha": alpha,
        "sequence": {name: each.tolist() for name, each in table.items()},
    }
    return Learned(tree, params, notes, alpha)


def _spread(alphas: Floats) -> Floats:
    """So many of the alphas, spread over the sequence, that each can be judged on every row."""
    if len(alphas) <= MOST_ALPHAS:
        return alphas
    return alphas[np.unique(np.linspace(0, len(alphas) - 1, MOST_ALPHAS).astype(np.int64))]


def _validated(task: Task, alphas: Floats) -> Validated:
    data, params = task.data, task.params
    folds = balanced_folds(strata(data), data.weights, params.folds, params.seed)
    steps = count(1)

    def grow_tree(rows: Ints) -> Tree:
        return sequence_tree(_step(task, next(steps), 1 + params.folds), rows)

    return cross_validated(data, grow_tree, params, folds, alphas)


def _step(task: Task, step: int, n_steps: int) -> Task:
    """The task whose growing is one step of so many."""

    def report(fraction: float, nodes: int) -> None:
        task.report((step + fraction) / n_steps, nodes)

    return replace(task, report=report)


def _held(task: Task) -> Bools:
    if task.validation is not None and not task.validation.all():
        return task.validation
    return hold_out(strata(task.data), task.params.validation, task.params.seed)


def strata(data: Dataset) -> Ints:
    """Per row the group of which folds hold equal parts: its class, or a stretch of numbers."""
    if data.is_regression:
        return quantile_strata(data.target.astype(np.float64))
    return data.target.astype(np.int64)


PRUNERS: dict[str, Pruner] = {
    "none": learn_unpruned,
    "pessimistic": learn_pessimistic,
    "hold_out": learn_hold_out,
    "reduced_error": learn_reduced_error,
    "penalised": learn_penalised,
    "cost_complexity": learn_cost_complexity,
}
