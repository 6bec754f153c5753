"""Cross-validation of the trees of a cost-complexity sequence, and the choice among them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.compiled import CompiledTree, compile_tree
from service.tree.criterion import likeliest
from service.tree.dataset import Dataset, rows_of
from service.tree.kernels.climb import Climb, Held, Tally, add_losses
from service.tree.nodes import Tree
from service.tree.params import Params
from service.tree.route import Routed
from service.tree.walk import walk

GrowTree: TypeAlias = Callable[[Ints], Tree]  # rows outside a fold -> their tree, with alphas
Router: TypeAlias = Callable[[CompiledTree, Floats, str], Iterable[Routed]]


@dataclass(frozen=True)
class Validated:
    """Per alpha what cross-validation finds: the risk summed over rows, and its standard error."""

    alphas: Floats
    risks: Floats
    errors: Floats


def routing(params: Params) -> str:
    """How rows with nulls are routed where the tree was grown in this way."""
    return "last_prediction" if params.missing == "stop" else "weighted"


def betas(alphas: Floats, links: str = "weakest_link") -> Floats:
    """The alphas that stand for the intervals of a sequence: geometric means, the last infinite."""
    endless = 10.0 * alphas[-1] if links == "rpart" else np.inf  # rpart's is not quite infinite
    return np.append(np.sqrt(alphas[:-1] * alphas[1:]), endless)


def cross_validated(
    full: Dataset,
    grow_tree: GrowTree,
    params: Params,
    folds: Ints,
    alphas: Floats,
    router: Router = walk,
) -> Validated:
    """The trees of the sequence with these alphas, judged by trees grown without each fold."""
    limits, total = betas(alphas, params.links), float(full.weights.sum())
    before, last = total, np.zeros(len(alphas))
    weighted, squares = np.zeros(len(alphas)), np.zeros(len(alphas))
    for fold in np.unique(folds):
        rows = np.flatnonzero((folds != fold) & (full.weights > 0))
        tree = grow_tree(rows)
        weight = float(full.weights[rows].sum())
        limits, before = limits * (weight / before), weight  # step by step, as rpart rounds it
        tally = _losses_at(rows_of(full, folds == fold), tree, params, limits, last, router)
        weighted, squares, last = weighted + tally.sums, squares + tally.squares, tally.last
    spread = np.sqrt(np.maximum(squares - weighted * weighted / total, 0.0))
    return Validated(alphas, weighted, spread)


def chosen_alpha(validated: Validated, standard_errors: float) -> float:
    """The largest alpha whose risk is within so many standard errors of the smallest risk."""
    risks = validated.risks
    best = int(np.flatnonzero(risks <= risks.min() * (1 + 1e-12))[-1])
    limit = risks[best] + standard_errors * validated.errors[best]
    return float(validated.alphas[np.flatnonzero(risks <= limit * (1 + 1e-12))[-1]])


def _losses_at(
    data: Dataset, tree: Tree, params: Params, limits: Floats, last: Floats, router: Router
) -> Tally:
    """Per limit what the rows lose; limits ascend, and `last` is what the row before them lost.

    Rows are routed once. As the limits rise, the nodes at which they ended climb to the ancestors
    that have become leaves; the weights of a row at these add up to what had arrived there.
    """
    compiled = compile_tree(tree, data.attributes, data.classes, params)
    climb = _climb(tree, compiled.probabilities, limits)
    # rpart stores the answer of a row that stops above a leaf but not its loss, and adds what it
    # finds there: the loss of the row before, at the same alpha, be it of the fold before
    as_rpart = params.rules == "rpart" and params.missing == "stop"
    tally = Tally(last.copy(), np.zeros(len(limits)), np.zeros(len(limits)), as_rpart)
    routed = router(compiled, data.values, routing(params))
    for block in [_in_order(routed)] if as_rpart else routed:
        add_losses(climb, _held(data, block), tally)
    return tally


def _climb(tree: Tree, answers: Floats, limits: Floats) -> Climb:
    leaf_from = np.searchsorted(limits, np.where(tree.is_leaf, -np.inf, tree.alpha_cut))
    goes_on = np.where(tree.parent < 0, len(limits), leaf_from[tree.parent])
    told = answers[:, 0] if tree.is_regression else likeliest(answers).astype(np.float64)
    return Climb(
        tree.parent,
        leaf_from,
        goes_on,
        np.ascontiguousarray(answers),
        np.ascontiguousarray(told),
        tree.is_regression,
    )


def _in_order(blocks: Iterable[Routed]) -> Routed:
    """One block of all, sorted by row."""
    parts = list(blocks)
    rows, leaves, weights = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("rows", "leaves", "weights")
    )
    order = np.argsort(rows, kind="stable")
    return Routed(rows[order], leaves[order], weights[order], parts[0].met)


def _held(data: Dataset, routed: Routed) -> Held:
    starts = np.flatnonzero(np.diff(routed.rows, prepend=-1))
    rows = routed.rows[starts]
    return Held(
        np.append(starts, len(routed.rows)),
        routed.leaves,
        routed.weights,
        data.target[rows].astype(np.float64),
        data.weights[rows],
    )


def losses_of(data: Dataset, answers: Floats) -> Floats:
    """Per row what is lost by these answers: 0 or 1, or the squared error."""
    if data.is_regression:
        squared: Floats = (data.target - answers[:, 0]) ** 2
        return squared
    wrong: Floats = np.not_equal(likeliest(answers), data.target).astype(np.float64)
    return wrong
