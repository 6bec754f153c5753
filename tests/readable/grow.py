"""Growing: node after node from a queue, each made the best split that its rows offer."""

from collections import deque
from collections.abc import Collection

import numpy as np

from service.errors import LimitReached
from service.tree.c45 import C45, tolerance_of
from service.tree.context import Context, make_context
from service.tree.criterion import TIE
from service.tree.dataset import Dataset
from service.tree.engine import Report
from service.tree.growing import ignore
from service.tree.params import Params
from service.tree.parts import Part, whole
from service.tree.rpart_order import is_rpart
from tests.readable.c45 import choose_c45, search_c45
from tests.readable.candidate import Candidate
from tests.readable.choose import choose
from tests.readable.parts import view
from tests.readable.rpart import candidates_rpart, choose_rpart
from tests.readable.search import search
from tests.readable.sprout import Sprout, divide, make_sprout

# of an average row: a node with less holds crumbs of rows that know nothing, and there is no end
# to dividing them
LIGHTEST = 1e-3


def grow(
    data: Dataset, params: Params, max_nodes: int = 1_000_000, report: Report = ignore
) -> Sprout:
    """The root of the full tree of a dataset."""
    return grow_from(make_context(data, params), whole(data), None, max_nodes, report)


def grow_from(
    context: Context,
    part: Part,
    validation: Part | None,
    max_nodes: int,
    report: Report,
) -> Sprout:
    """The root of the tree of these rows; where validation rows are given, they must agree."""
    root = make_sprout(context.data, part, 0)
    root.validation = validation
    queue: deque[tuple[Sprout, frozenset[int]]] = deque([(root, frozenset())])
    settled, n_nodes = 0.0, 1
    while queue:
        sprout, tested = queue.popleft()
        best = None if is_settled(context, sprout) else best_split(context, sprout, tested)
        if best is None or not split(context, sprout, best):
            settled += sprout.weight
        else:
            below = tested | {best.attribute} if context.params.cost_rule != "none" else tested
            queue.extend((child, below) for child in sprout.children)
            n_nodes += len(sprout.children)
        if n_nodes > max_nodes:
            raise LimitReached(
                f"the tree grew beyond {max_nodes} nodes; set max_depth, min_weight or min_gain"
            )
        report(min(settled / root.weight, 1.0), n_nodes)
    return root


def is_settled(context: Context, sprout: Sprout) -> bool:
    """Whether the node is a leaf without a look at its attributes."""
    params = context.params
    if sprout.weight == 0 or sprout.depth == params.max_depth:
        return True
    if len(sprout.part.rows) < params.min_rows:
        return True
    if params.rules in C45:
        tolerance = tolerance_of(params)
        too_light = 2 * params.min_weight - sprout.weight > tolerance
        return too_light or sprout.errors <= tolerance
    if sprout.weight < LIGHTEST * context.row_weight:
        return True
    if context.data.is_regression:
        nothing = (TIE * sprout.mean) ** 2 if is_rpart(params) else context.tie
        return sprout.variance <= nothing
    return int(np.count_nonzero(sprout.distribution)) <= 1


def best_split(context: Context, sprout: Sprout, tested: Collection[int]) -> Candidate | None:
    """The split to make at a node, or None where none is worth making."""
    if is_rpart(context.params):
        return _best_by_rpart(context, sprout)
    found = candidates(context, sprout.part)
    if not found:
        return None
    if context.params.rules in C45:
        best = choose_c45(context, found, C45[context.params.rules])
    else:
        best = choose(context, found, tested)
    if best is None or best.gain < context.params.min_gain - context.tie:
        return None
    return best


def _best_by_rpart(context: Context, sprout: Sprout) -> Candidate | None:
    assert context.origin is not None
    found = candidates_rpart(context, sprout.part, is_root=sprout.depth == 0)
    best = choose_rpart(found, max(sprout.largest, context.origin.largest))
    if best is None or best.gain < context.params.min_gain - context.tie:
        return None
    return best


def candidates(context: Context, part: Part) -> list[Candidate]:
    """The best split of each attribute that offers one, in the order of the attributes."""
    data, params = context.data, context.params
    target = data.target[part.rows]
    if data.is_regression:
        target = target - np.average(target, weights=part.weights)
    found = []
    for number in range(len(data.attributes)):
        seen = view(data, part, target, number, params.missing)
        if params.rules in C45:
            candidate = search_c45(context, number, seen, C45[params.rules])
        else:
            candidate = search(context, number, seen)
        if candidate is not None:
            found.append(candidate)
    return found


def split(context: Context, sprout: Sprout, best: Candidate) -> bool:
    """Makes the sprout an inner node, unless its validation rows speak against it."""
    data, params = context.data, context.params
    least = tolerance_of(params)
    parts, sizes = divide(data, sprout.part, best, params.missing, least)
    children = [make_sprout(data, part, sprout.depth + 1) for part in parts]
    if sprout.validation is not None:
        held, _ = divide(data, sprout.validation, best, params.missing, least)
        if not improves(data, sprout, children, held):
            return False
        for child, part in zip(children, held, strict=True):
            child.validation = part
    for child in children:
        child.largest = max(sprout.largest, best.improvement)
    sprout.candidate, sprout.sizes, sprout.children = best, sizes, children
    return True


def improves(data: Dataset, sprout: Sprout, children: list[Sprout], held: list[Part]) -> bool:
    """Whether the validation rows lose less with the children as leaves than without them."""
    assert sprout.validation is not None
    without = loss(data, sprout, sprout.validation)
    answers = [child if child.weight > 0 else sprout for child in children]
    within = sum(loss(data, child, part) for child, part in zip(answers, held, strict=True))
    return within < without - TIE


def loss(data: Dataset, sprout: Sprout, part: Part) -> float:
    """What a leaf here loses on rows: the weight it gets wrong, or their squared error."""
    target = data.target[part.rows]
    if data.is_regression:
        return float(part.weights @ (target - sprout.mean) ** 2)
    return float(part.weights[target != np.argmax(sprout.distribution)].sum())
