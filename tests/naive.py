"""The definitions, written for reading: slow, recursive, one row at a time.

What is fast in service/tree must give what these give.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, pairwise
from math import log2

from service.tree.attribute import Kind
from service.tree.dataset import Dataset
from service.tree.nodes import Operator, Tree
from service.tree.params import Params

Row = tuple[list[float | None], float, float]  # values (null is None), target, weight
TIE = 1e-12


@dataclass(frozen=True)
class Way:
    """A way to split an attribute: into how many branches, and which value takes which."""

    attribute: int
    n_branches: int
    is_binary: bool  # two branches for what is known, and both must hold enough weight
    branch: Callable[[float | None], int | None]  # None: it takes no branch, being null


@dataclass
class Naive:
    """A node with the nodes below it."""

    rows: list[Row]
    way: Way | None = None
    gain: float | None = None
    shares: tuple[float, ...] = ()
    children: tuple["Naive", ...] = ()


def naive_rows(data: Dataset) -> list[Row]:
    values = [[None if value != value else value for value in row] for row in data.values.tolist()]
    rows = zip(values, data.target.tolist(), data.weights.tolist(), strict=True)
    return [row for row in rows if row[2] > 0]


def naive_grow(data: Dataset, params: Params) -> Naive:
    return _grow(data, naive_rows(data), params, depth=0)


def _grow(data: Dataset, rows: list[Row], params: Params, depth: int) -> Naive:
    node = Naive(rows)
    if len({row[1] for row in rows}) <= 1 or depth == params.max_depth:
        return node
    whole = naive_rows(data)
    if weight(rows) < 1e-3 * weight(whole) / len(whole):
        return node
    found = [best for a in range(len(data.attributes)) if (best := _best(data, rows, a, params))]
    if not found:
        return node
    gain, way = _choose(found, params.criterion)
    if gain <= TIE or gain < params.min_gain - TIE:
        return node
    known = _branches(rows, way)
    sizes = [weight(branch) for branch in known]
    node.way, node.gain = way, gain
    node.shares = tuple(size / sum(sizes) for size in sizes)
    nulls = [row for row in rows if way.branch(row[0][way.attribute]) is None]
    if params.missing == "stop":
        nulls = []
    node.children = tuple(
        Naive([])
        if not branch
        else _grow(data, branch + [(v, t, w * share) for v, t, w in nulls], params, depth + 1)
        for branch, share in zip(known, node.shares, strict=True)
    )
    return node


def _best(
    data: Dataset, rows: list[Row], attribute: int, params: Params
) -> tuple[float, float, Way] | None:
    best = _best_of(_ways(data, rows, attribute, params), rows, params)
    is_multiway = (
        data.attributes[attribute].kind == Kind.CATEGORICAL and params.categorical == "multiway"
    )
    if best is None and not is_multiway and _has_null_branch(data, attribute, params):
        apart = Way(attribute, 3, is_binary=False, branch=lambda value: 2 if value is None else 0)
        return _best_of(iter([apart]), rows, params)
    return best


def _best_of(
    ways: Iterator[Way], rows: list[Row], params: Params
) -> tuple[float, float, Way] | None:
    best = None
    for way in ways:
        branches = _branches(rows, way)
        sizes = [weight(branch) for branch in branches]
        if sum(size > 0 and size >= params.min_weight - 1e-9 for size in sizes) < 2:
            continue
        if way.is_binary and min(sizes[:2]) < max(params.min_weight - 1e-9, TIE):
            continue
        total, known = weight(rows), sum(sizes)
        impurity = IMPURITIES[params.criterion]
        after = sum(size / known * impurity(b) for size, b in zip(sizes, branches, strict=True))
        gain = known / total * (impurity([row for branch in branches for row in branch]) - after)
        if best is None or gain > best[0] + TIE:
            best = (gain, entropy_of([*sizes, total - known]), way)
    return best


def _choose(found: list[tuple[float, float, Way]], criterion: str) -> tuple[float, Way]:
    scores = [gain for gain, *_ in found]
    if criterion == "gain_ratio":
        mean = sum(scores) / len(scores)
        scores = [g / info if g >= mean - TIE else -1.0 for g, info, _ in found]
    first = next(i for i, score in enumerate(scores) if score >= max(scores) - TIE)
    return found[first][0], found[first][2]


def _ways(data: Dataset, rows: list[Row], attribute: int, params: Params) -> Iterator[Way]:
    """All ways to split an attribute at a node, nulls handled as the params say."""
    column = [row[0][attribute] for row in rows]
    known = sorted({value for value in column if value is not None})
    null: Callable[[], int | None] = lambda: None  # noqa: E731
    n_more = int(_has_null_branch(data, attribute, params))
    for n_branches, branch in _divisions(data, attribute, known, params.categorical):
        common = None
        if params.missing == "majority" and known:
            common = _common(data, rows, attribute)
        null_branch = n_branches if n_more else (null() if common is None else branch(common))
        yield Way(
            attribute,
            n_branches + n_more,
            data.attributes[attribute].kind != Kind.CATEGORICAL or params.categorical != "multiway",
            lambda value, b=branch, n=null_branch: n if value is None else b(value),
        )


def _has_null_branch(data: Dataset, attribute: int, params: Params) -> bool:
    has_null = any(row[0][attribute] is None for row in naive_rows(data))
    return params.missing == "own_branch" and has_null


def _divisions(
    data: Dataset, attribute: int, known: list[float], categorical: str
) -> Iterator[tuple[int, Callable[[float], int]]]:
    kind, n_values = data.attributes[attribute].kind, len(data.attributes[attribute].values)
    if kind != Kind.CATEGORICAL:
        for low, high in pairwise(known):
            threshold = low if kind == Kind.ORDINAL else (low + high) / 2
            yield 2, lambda value, t=threshold: int(value > t)
    elif categorical == "multiway":
        yield n_values, int
    elif categorical == "one_vs_rest":
        for one in range(n_values):
            yield 2, lambda value, c=one: int(value != c)
    else:
        for size in range(len(known) - 1):
            for members in combinations(known[1:], size):
                yield 2, lambda value, m=(known[0], *members): int(value not in m)


def _common(data: Dataset, rows: list[Row], attribute: int) -> float:
    """The category of the most weight; of numbers the lowest with half of the weight below."""
    weights: dict[float, float] = {}
    for values, _, row_weight in rows:
        if values[attribute] is not None:
            weights[values[attribute]] = weights.get(values[attribute], 0.0) + row_weight
    if data.attributes[attribute].kind == Kind.CATEGORICAL:
        return max(sorted(weights), key=lambda value: weights[value])
    passed = 0.0
    for value in sorted(weights):
        passed += weights[value]
        if passed >= sum(weights.values()) / 2:
            return value
    raise AssertionError


def _branches(rows: list[Row], way: Way) -> list[list[Row]]:
    return [
        [row for row in rows if way.branch(row[0][way.attribute]) == branch]
        for branch in range(way.n_branches)
    ]


def weight(rows: list[Row]) -> float:
    return sum(row[2] for row in rows)


def by_class(rows: list[Row]) -> list[float]:
    classes = sorted({row[1] for row in rows})
    return [sum(row[2] for row in rows if row[1] == c) for c in classes]


def entropy_of(weights: list[float]) -> float:
    total = sum(weights)
    return -sum(w / total * log2(w / total) for w in weights if w > 0)


def _gini(rows: list[Row]) -> float:
    return 1 - sum((w / weight(rows)) ** 2 for w in by_class(rows)) if rows else 0.0


def _misclassification(rows: list[Row]) -> float:
    return 1 - max(by_class(rows)) / weight(rows) if rows else 0.0


def variance_of(rows: list[Row]) -> float:
    if not rows:
        return 0.0
    mean = sum(row[1] * row[2] for row in rows) / weight(rows)
    return sum(row[2] * (row[1] - mean) ** 2 for row in rows) / weight(rows)


IMPURITIES: dict[str, Callable[[list[Row]], float]] = {
    "gain": lambda rows: entropy_of(by_class(rows)) if rows else 0.0,
    "gain_ratio": lambda rows: entropy_of(by_class(rows)) if rows else 0.0,
    "gini": _gini,
    "misclassification": _misclassification,
    "squared_error": variance_of,
}


def naive_predict(tree: Tree, values: list[float | None], node: int = 0) -> list[float]:
    """The definition of a prediction: a null is the mean over the branches by their shares."""
    if tree.attribute[node] < 0:
        if tree.is_regression:
            return [float(tree.mean[node])]
        return [float(w / sum(tree.distribution[node])) for w in tree.distribution[node]]
    children = [c for c in range(len(tree)) if tree.parent[c] == node]
    value = values[tree.attribute[node]]
    for child in children:
        if holds(tree, child, value):
            return naive_predict(tree, values, child)
    below = [(tree.share[c], naive_predict(tree, values, c)) for c in children if tree.share[c] > 0]
    return [sum(share * answer[k] for share, answer in below) for k in range(len(below[0][1]))]


def holds(tree: Tree, child: int, value: float | None) -> bool:
    """Whether a value satisfies the condition on the edge to a node."""
    operator = tree.operator[child]
    if value is None:
        return bool(operator == Operator.NULL)
    return {
        Operator.EQUAL: value == tree.value[child],
        Operator.AT_MOST: value <= tree.value[child],
        Operator.ABOVE: value > tree.value[child],
        Operator.AMONG: value in tree.categories(child),
        Operator.NULL: False,
    }[Operator(operator)]
