"""Cross-validation of a sequence written for reading: every row at every alpha.

What service/tree/cross_validation.py sums up must be the sums of these losses.
"""

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.compiled import compile_tree
from service.tree.cross_validation import GrowTree, Validated, betas, losses_of, routing
from service.tree.dataset import Dataset, rows_of
from service.tree.nodes import Tree
from service.tree.params import Params
from service.tree.predict import mixed
from service.tree.route import route


def naive_cross_validated(
    full: Dataset, grow_tree: GrowTree, params: Params, folds: Ints, alphas: Floats
) -> Validated:
    """The trees of the sequence with these alphas, judged by trees grown without each fold."""
    losses = np.empty((len(alphas), len(folds)))
    limits, before = betas(alphas, params.links), float(full.weights.sum())
    total, last = before, np.zeros(len(alphas))
    for fold in np.unique(folds):
        rows, held = np.flatnonzero((folds != fold) & (full.weights > 0)), folds == fold
        tree = grow_tree(rows)
        weight = float(full.weights[rows].sum())
        limits, before = limits * (weight / before), weight  # step by step, as rpart rounds it
        found, stopped = naive_losses_at(rows_of(full, held), tree, params, limits)
        if params.rules == "rpart" and params.missing == "stop":
            found = _as_before(found, stopped, last)
        losses[:, held], last = found, found[:, -1]
    weighted = losses @ full.weights
    squares = (losses * losses) @ full.weights
    spread = np.sqrt(np.maximum(squares - weighted * weighted / total, 0.0))
    return Validated(alphas, weighted, spread)


def naive_losses_at(
    data: Dataset, tree: Tree, params: Params, limits: Floats
) -> tuple[Floats, Bools]:
    """Per limit and row the loss, and whether the row stopped above a leaf; limits ascend.

    Rows are routed once. As the limits rise, the nodes at which they ended climb to the ancestors
    that have become leaves; the weights of a row at these add up to what had arrived there.
    """
    compiled = compile_tree(tree, data.attributes, data.classes, params)
    losses = np.empty((len(limits), len(data.target)))
    stopped = np.zeros(losses.shape, dtype=bool)
    cut = np.where(tree.is_leaf, -np.inf, tree.alpha_cut)
    for routed in route(compiled, data.values, routing(params)):
        rows, starts = np.unique(routed.rows, return_index=True)
        ends, held = routed.leaves, rows_of(data, rows)
        for at, limit in enumerate(limits):
            ends = _climbed(tree, cut, ends, limit)
            answers = mixed(routed.weights, compiled.probabilities[ends], starts)
            losses[at, rows] = losses_of(held, answers)
            stopped[at, rows] = cut[ends[starts]] > limit
    return losses, stopped


def _climbed(tree: Tree, cut: Floats, ends: Ints, limit: float) -> Ints:
    """Per node its topmost ancestor that is a leaf at this limit, or itself."""
    above = tree.parent[ends]
    while (rises := (above >= 0) & (cut[above] <= limit)).any():
        ends = np.where(rises, above, ends)
        above = tree.parent[ends]
    return ends


def _as_before(losses: Floats, stopped: Bools, last: Floats) -> Floats:
    """The losses as rpart counts them: a row that stopped has that of the row before it.

    rpart stores the answer of such a row but not its loss, and adds what it finds there: the loss
    of the row before, at the same alpha, be it of the fold before.
    """
    n_rows = losses.shape[1]
    found = np.where(stopped, -1, np.arange(n_rows))
    source = np.maximum.accumulate(found, axis=1)
    counted = np.take_along_axis(losses, np.maximum(source, 0), axis=1)
    return np.where(source < 0, last[:, None], counted)
