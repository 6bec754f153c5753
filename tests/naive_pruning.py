"""Pruning written for reading: nodes that hold their rows, changed in place.

What service/tree/pessimism.py does on the table of nodes must give what this gives.
"""

import numpy as np

from service.tree.arrays import Floats
from service.tree.bounds import BOUNDS
from service.tree.c45 import tolerance_of
from service.tree.context import Context
from service.tree.grown import Grown
from service.tree.parts import Part
from tests.readable.freeze import freeze
from tests.readable.sprout import Sprout, bottom_up, breadth_first, divide, make_sprout

MARGIN = 0.1
COLLAPSE = 1e-3


def grown_of(context: Context, root: Sprout) -> Grown:
    """The sprouts as the table of nodes that pruning is given."""
    candidates = [sprout.candidate for sprout in breadth_first(root)]
    filled = [np.nan if found is None else found.filled for found in candidates]
    return Grown(freeze(context, root), root.part, np.array(filled, dtype=np.float64))


def naive_collapse(root: Sprout) -> None:
    errors: dict[Sprout, float] = {}
    for sprout in bottom_up(root):
        below = sum(errors[child] for child in sprout.children)
        errors[sprout] = below if sprout.children else sprout.errors
    stack = [root]
    while stack:
        sprout = stack.pop()
        if sprout.children and errors[sprout] >= sprout.errors - COLLAPSE:
            sprout.make_leaf()
        stack.extend(sprout.children)


def naive_prune(context: Context, root: Sprout) -> int:
    """How many branches were raised; the sprouts are pruned."""
    n_raised, stack = 0, [(root, False)]
    while stack:
        sprout, is_done_below = stack.pop()
        if not sprout.children:
            continue
        if not is_done_below:
            stack.append((sprout, True))
            stack.extend((child, False) for child in sprout.children)
        elif _replaced(context, sprout):
            n_raised += 1
            stack.append((sprout, False))  # it has other rows now: once more from below
    return n_raised


def _replaced(context: Context, sprout: Sprout) -> bool:
    """Makes the sprout a leaf, or its largest branch (then True), or leaves it as it is."""
    tolerance = tolerance_of(context.params)
    slack = MARGIN + tolerance
    largest = _largest(sprout, tolerance)
    branch = float("inf")
    if context.params.raising:
        branch = _estimate(context, largest, sprout.part)
    leaf = _pessimistic(context, sprout)
    below = sum(_pessimistic(context, each) for each in bottom_up(sprout) if not each.children)
    if leaf <= below + slack and leaf <= branch + slack:
        sprout.make_leaf()
        return False
    if branch > below + slack:
        return False
    sprout.candidate, sprout.sizes = largest.candidate, largest.sizes
    sprout.children = largest.children
    _refresh(context, sprout)
    return True


def _largest(sprout: Sprout, tolerance: float) -> Sprout:
    """The child with the most weight, the last of equals."""
    best, most = sprout.children[0], 0.0
    for child, size in zip(sprout.children, sprout.sizes.tolist(), strict=True):
        if size >= most - tolerance:
            best, most = child, size
    return best


def _pessimistic(context: Context, sprout: Sprout) -> float:
    if sprout.weight <= 1e-6:
        return 0.0
    more = BOUNDS[context.params.bound](sprout.weight, sprout.errors, context.params.confidence)
    return sprout.errors + more


def _down(context: Context, sprout: Sprout, part: Part) -> tuple[list[Part], Floats]:
    assert sprout.candidate is not None
    params = context.params
    return divide(context.data, part, sprout.candidate, params.missing, tolerance_of(params))


def _estimate(context: Context, top: Sprout, part: Part) -> float:
    """The errors to expect if all these rows went into a subtree as it stands."""
    expected, stack = 0.0, [(top, part)]
    while stack:
        sprout, rows = stack.pop()
        if not sprout.children:
            expected += _pessimistic(context, make_sprout(context.data, rows, 0))
            continue
        below, _ = _down(context, sprout, rows)
        stack.extend(zip(sprout.children, below, strict=True))
    return expected


def _refresh(context: Context, top: Sprout) -> None:
    """Sends the rows of a sprout down anew and renews what is known of all below it."""
    stack = [top]
    while stack:
        sprout = stack.pop()
        if not sprout.children:
            continue
        parts, sprout.sizes = _down(context, sprout, sprout.part)
        for child, part in zip(sprout.children, parts, strict=True):
            renewed = make_sprout(context.data, part, sprout.depth + 1)
            child.part, child.depth = part, renewed.depth
            child.distribution, child.weight = renewed.distribution, renewed.weight
        stack.extend(sprout.children)
