"""Ways of learning: grow, and prune in one of six ways; what was found on the way is told."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any, TypeAlias

import numpy as np

from service.tree import pessimistic
from service.tree.arrays import Bools, Floats, Ints
from service.tree.candidate import Context, make_context
from service.tree.cost_complexity import at_alpha, merged, risk_of, sequence, with_alpha_cut
from service.tree.cross_validation import Validated, chosen_alpha, cross_validated
from service.tree.dataset import Dataset, rows_of
from service.tree.folds import balanced_folds, hold_out, quantile_strata
from service.tree.freeze import freeze
from service.tree.grow import Report, grow_from, ignore, whole
from service.tree.nodes import Tree
from service.tree.params import Params
from service.tree.parts import Part
from service.tree.penalised import default_alpha, penalised
from service.tree.reduced_error import reduced_error
from service.tree.rpart import is_rpart, squared_error
from service.tree.sprout import Sprout, breadth_first

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


def grown_root(context: Context, part: Part, max_nodes: int, report: Report = ignore) -> Sprout:
    """The root of the tree of these rows; collapsed where the params ask."""
    root = grow_from(context, part, None, max_nodes, report)
    if context.params.collapse:
        pessimistic.collapse(root)
    return root


def grown(task: Task, data: Dataset | None = None) -> Tree:
    """The tree as it grows, of all rows or of others."""
    context = make_context(data or task.data, task.params)
    return freeze(context, grown_root(context, whole(context.data), task.max_nodes, task.report))


def sequence_tree(task: Task, rows: Ints | None = None) -> Tree:
    """The full tree of all rows, or of those outside a fold; its nodes have their alphas.

    A fold's tree shares what was settled once on all rows, as rpart has it.
    """
    part = None if rows is None else Part(rows, task.data.weights[rows])
    context = make_context(task.data, task.params, part)
    root = grown_root(context, part or whole(task.data), task.max_nodes, task.report)
    tree = freeze(context, root)
    return with_alpha_cut(tree, task.params.links, _risks(context, root, tree))


def _risks(context: Context, root: Sprout, tree: Tree) -> Floats:
    """Per node its risk; by rpart's rules to the last bit, which decides between equal alphas."""
    if not (context.data.is_regression and is_rpart(context.params)):
        return risk_of(tree, context.params.risk)
    sprouts = breadth_first(root)
    errors = [squared_error(context, each.part, is_root=each is root) for each in sprouts]
    return np.array(errors)


def learn_unpruned(task: Task) -> Learned:
    """The full tree."""
    return Learned(grown(task), task.params)


def learn_pessimistic(task: Task) -> Learned:
    """The tree pruned by what its leaves are believed to get wrong."""
    context = make_context(task.data, task.params)
    root = grown_root(context, whole(task.data), task.max_nodes, task.report)
    pessimistic.prune(context, root)
    return Learned(freeze(context, root), task.params)


def learn_hold_out(task: Task) -> Learned:
    """The tree in which every split made the held-out rows be predicted better."""
    held = _held(task) & (task.data.weights > 0)
    training = np.flatnonzero(~held & (task.data.weights > 0))
    kept = np.flatnonzero(held)
    context = make_context(task.data, task.params)
    part = Part(training, task.data.weights[training])
    validation = Part(kept, task.data.weights[kept])
    root = grow_from(context, part, validation, task.max_nodes, task.report)
    return Learned(freeze(context, root), task.params)


def learn_reduced_error(task: Task) -> Learned:
    """The tree cut back where the held-out rows are predicted no worse without the subtree."""
    held = _held(task)
    tree = grown(task, rows_of(task.data, ~held))
    validation = rows_of(task.data, held)
    pruned = reduced_error(tree, validation, prune_ties=task.params.prune_ties)
    return Learned(pruned, task.params)


def learn_penalised(task: Task) -> Learned:
    """The tree of the smallest penalised loss."""
    tree = grown(task)
    alpha = default_alpha(tree) if task.params.alpha is None else task.params.alpha
    return Learned(penalised(tree, alpha), task.params, {"penalty": alpha})


def learn_cost_complexity(task: Task) -> Learned:
    """The tree of the cost-complexity sequence at the given or a cross-validated alpha."""
    params = task.params
    n_steps = 1 + (params.folds if params.alpha is None else 0)
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
