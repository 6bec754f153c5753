"""Choosing for oneself: several ways to grow and to prune, judged by repeated cross-validation.

Every way is grown once for each fold, and all its prunings are judged on the rows held out. Of
those that are no worse than the best by more than one standard error of the difference, the
smallest tree is taken.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.compiled import compile_tree
from service.tree.context import make_context
from service.tree.cost_complexity import merged, sequence
from service.tree.cross_validation import betas, losses_of, routing
from service.tree.cut import at_alpha
from service.tree.dataset import Dataset, rows_of
from service.tree.folds import balanced_folds
from service.tree.growing import ignore
from service.tree.nodes import Tree
from service.tree.params import PRESETS, Params
from service.tree.parts import Part, whole
from service.tree.pessimism import prune
from service.tree.pruners import Learned, Task, grown_tree, sequence_tree, sorted_once, strata
from service.tree.walk import answers

CONFIDENCES = (0.01, 0.1, 0.25, 0.4)
MOST_ALPHAS = 12  # of one sequence, spread over its length
MOST_REPEATS = 5

C45 = replace(PRESETS["c45"], pruning="pessimistic")
CART = replace(PRESETS["cart"], rules="textbook", links="weakest_link")
FOR_CLASSES: dict[str, Params] = {
    "c45": C45,
    "c45, one category against the rest": replace(C45, categorical="one_vs_rest"),
    "gini, subsets": CART,
    "entropy, subsets": replace(CART, criterion="gain"),
    "gain ratio, subsets": replace(CART, criterion="gain_ratio"),
    "entropy, multiway": replace(CART, criterion="gain", categorical="multiway"),
}
FOR_NUMBERS: dict[str, Params] = {
    "squared error, subsets": replace(CART, criterion="squared_error"),
    "squared error, leaves of 5": replace(CART, criterion="squared_error", min_weight=5.0),
    "squared error, multiway": replace(CART, criterion="squared_error", categorical="multiway"),
}


@dataclass(frozen=True)
class Option:
    """One way to grow and prune, and the tree it makes of all rows."""

    family: str
    params: Params
    strength: float  # the confidence, or the alpha
    tree: Tree

    @property
    def n_leaves(self) -> int:
        """How large the tree is."""
        tree = self.tree
        return int((tree.is_leaf & tree.is_reached & (tree.weight > 0)).sum())


@dataclass(frozen=True)
class Judged:
    """Per option and judged row what is lost there by trees that had not seen it."""

    lost: Floats
    rows: Bools  # which rows were judged
    repeats: float  # how often, on the whole


def learn_auto(task: Task) -> Learned:
    """The tree of the best way, with all that was tried."""
    for search in sorted({params.search for params in _families(task).values()}):
        task = sorted_once(task, search)
    families, options = _grown_in_time(task)
    judged = _judged(task, families, options)
    weights = task.data.weights[judged.rows]
    risks: Floats = judged.lost @ weights / weights.sum()
    allowed = _within(task, judged, risks)
    at = _smallest(options, risks, allowed)
    best = options[at]
    notes = {
        "tried": [_told(*each) for each in zip(options, risks.tolist(), strict=True)],
        "chosen": _told(best, float(risks[at])),
        "reason": f"the smallest of {allowed.sum()} trees within {task.params.standard_errors} "
        f"standard errors of the best of {len(options)}, "
        f"by {judged.repeats:.1f} x {task.params.folds}-fold cross-validation",
    }
    if best.params.pruning != "cost_complexity":
        return Learned(best.tree, best.params, notes)
    full = _sequence(task, best.params)
    params = replace(best.params, alpha=best.strength)
    return Learned(full, params, notes | {"alpha": best.strength}, best.strength)


def _grown_in_time(task: Task) -> tuple[dict[str, Params], list[Option]]:
    """The ways for which there is time, at least one, and the prunings of each."""
    families: dict[str, Params] = {}
    options: list[Option] = []
    for name, params in _families(task).items():
        if options and task.is_late():
            break
        families[name] = params
        options += _options(task, name, params)
    return families, options


def _families(task: Task) -> dict[str, Params]:
    """The ways to grow, each with what the request says of nulls, limits, costs and leaves."""
    asked = task.params
    kept = {
        name: getattr(asked, name)
        for name in ("missing", "max_depth", "min_rows", "min_gain", "cost_rule", "cost_exponent",
                     "folds", "seed", "bins", "leaf_estimate", "estimate_weight")
    }  # fmt: skip
    families = FOR_NUMBERS if task.data.is_regression else FOR_CLASSES
    plain = asked.missing in ("fractional", "drop") and asked.cost_rule == "none"
    return {
        name: replace(
            params,
            **kept,
            min_weight=max(params.min_weight, asked.min_weight),
            search=asked.search if params.rules == "textbook" else "exact",
        )
        for name, params in families.items()
        if plain or params.rules == "textbook"
    }


def _sequence(task: Task, params: Params, rows: Ints | None = None) -> Tree:
    """The sequence of all rows, or of some."""
    return merged(sequence_tree(_way(task, params), rows), params.risk)


def _way(task: Task, params: Params) -> Task:
    return replace(task, params=params, report=ignore, validation=None)


def _options(task: Task, name: str, params: Params) -> list[Option]:
    """The prunings of one way to grow that are to be judged."""
    if params.pruning == "pessimistic":
        trees = _pessimistic(task, params)
        strengths = zip(CONFIDENCES, trees, strict=True)
        return [
            Option(name, replace(params, confidence=each), each, tree) for each, tree in strengths
        ]
    tree = _sequence(task, params)
    alphas = betas(sequence(tree, params.risk).alphas)
    spread = np.unique(np.linspace(0, len(alphas) - 1, MOST_ALPHAS).astype(int))
    alphas = np.minimum(alphas, 2.0 * max(float(np.nanmax(tree.alpha_cut, initial=0.0)), 1.0))
    return [Option(name, params, alpha, at_alpha(tree, alpha)) for alpha in alphas[spread].tolist()]


def _pessimistic(task: Task, params: Params, rows: Ints | None = None) -> list[Tree]:
    """The tree of all rows, or of some, pruned with each confidence."""
    part = whole(task.data) if rows is None else Part(rows, task.data.weights[rows])
    context = make_context(task.data, params, part)
    grown = grown_tree(context, part, _way(task, params))
    return [
        prune(replace(context, params=replace(params, confidence=confidence)), grown)
        for confidence in CONFIDENCES
    ]


def _judged(task: Task, families: dict[str, Params], options: Sequence[Option]) -> Judged:
    """All options judged fold by fold, as often as there is time for; one fold at the least."""
    lost, counts = np.zeros((len(options), len(task.data.target))), np.zeros(len(task.data.target))
    largest = max(len(option.tree) for option in options)
    for repeat in range(MOST_REPEATS):
        seed, weights = task.params.seed + repeat, task.data.weights
        folds = balanced_folds(strata(task.data), weights, task.params.folds, seed)
        for fold in np.unique(folds):
            if counts.any() and task.is_late():
                return _mean(lost, counts)
            task.report(float(counts.sum()) / (len(counts) * MOST_REPEATS), largest)
            out = folds == fold
            lost[:, out] += _losses(task, families, options, out)
            counts[out] += 1
    return _mean(lost, counts)


def _mean(lost: Floats, counts: Floats) -> Judged:
    judged = counts > 0
    return Judged(lost[:, judged] / counts[judged], judged, float(counts.mean()))


def _losses(
    task: Task, families: dict[str, Params], options: Sequence[Option], out: Bools
) -> Floats:
    """Per option and row held out what is lost there by a tree of the other rows."""
    rows, held = np.flatnonzero(~out), rows_of(task.data, out)
    scale = float(task.data.weights[rows].sum() / task.data.weights.sum())
    found = []
    for name, params in families.items():
        strengths = [option.strength for option in options if option.family == name]
        if params.pruning == "pessimistic":
            trees = _pessimistic(task, params, rows)
        else:
            full = _sequence(task, params, rows)
            trees = [at_alpha(full, alpha * scale) for alpha in strengths]
        found += [_lost(held, tree, params) for tree in trees]
    return np.array(found)


def _lost(held: Dataset, tree: Tree, params: Params) -> Floats:
    """Per row the squared error; of classes the error, and half of the Brier score beside it.

    Errors alone tell few trees apart where there are few rows.
    """
    compiled = compile_tree(tree, held.attributes, held.classes, params)
    given = answers(compiled, held.values, routing(params))
    lost = losses_of(held, given)
    if held.is_regression:
        return lost
    actual = np.arange(len(held.classes)) == held.target[:, None]
    brier: Floats = ((given - actual) ** 2).sum(axis=1)
    return lost + 0.5 * brier


def _within(task: Task, judged: Judged, risks: Floats) -> Bools:
    """Which options are no worse than the best by more than so many standard errors."""
    weights = task.data.weights[judged.rows]
    best = int(np.argmin(risks))
    apart = judged.lost - judged.lost[best]
    from_mean = apart - (risks - risks[best])[:, None]
    spread = np.sqrt(from_mean**2 @ weights) / weights.sum()
    return np.asarray(risks <= risks[best] + task.params.standard_errors * spread)


def _smallest(options: Sequence[Option], risks: Floats, allowed: Bools) -> int:
    """The smallest tree of those allowed; of equals the one of the least risk."""
    sizes = np.array([option.n_leaves for option in options])
    smallest = np.where(allowed, sizes, np.iinfo(np.int64).max)
    return int(np.lexsort((risks, smallest))[0])


def _told(option: Option, risk: float) -> dict[str, Any]:
    return {
        "family": option.family,
        "pruning": option.params.pruning,
        "strength": option.strength,
        "leaves": option.n_leaves,
        "validated_loss": risk,
    }
