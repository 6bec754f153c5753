"""The definitions, written for reading: slow, recursive, one row at a time.

What is fast in service/tree must give what these give.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import log2
from typing import Any

from service.tree.attribute import Kind
from service.tree.dataset import Dataset
from service.tree.nodes import Split, Tree
from service.tree.params import GrowParams

Row = tuple[list[float | None], int, float]  # values (null is None), class, weight
TIE = 1e-12


@dataclass
class Naive:
    """A node with the nodes below it."""

    weights: list[float]
    attribute: int | None = None
    threshold: float | None = None
    gain: float | None = None
    shares: tuple[float, ...] = ()
    children: tuple["Naive", ...] = ()


def naive_rows(data: Dataset) -> list[Row]:
    values = [[None if value != value else value for value in row] for row in data.values.tolist()]
    rows = zip(values, data.target.tolist(), data.weights.tolist(), strict=True)
    return [row for row in rows if row[2] > 0]


def naive_grow(data: Dataset, params: GrowParams) -> Naive:
    return _grow(data, naive_rows(data), params, depth=0)


def _grow(data: Dataset, rows: list[Row], params: GrowParams, depth: int) -> Naive:
    node = Naive(_distribution(data, rows))
    if sum(weight > 0 for weight in node.weights) <= 1 or depth == params.max_depth:
        return node
    found = [split for a in range(len(data.attributes)) if (split := _best(data, rows, a, params))]
    if not found:
        return node
    score, attribute, threshold = _choose(found, params.criterion)
    if score <= TIE or score < params.min_gain - TIE:
        return node
    known = _branches(data, rows, attribute, threshold)
    sizes = [sum(row[2] for row in branch) for branch in known]
    node.attribute, node.threshold, node.gain = attribute, threshold, score
    node.shares = tuple(size / sum(sizes) for size in sizes)
    nulls = [row for row in rows if row[0][attribute] is None]
    node.children = tuple(
        Naive(node.weights)
        if not branch
        else _grow(
            data,
            branch + [(values, target, weight * share) for values, target, weight in nulls],
            params,
            depth + 1,
        )
        for branch, share in zip(known, node.shares, strict=True)
    )
    return node


def _best(
    data: Dataset, rows: list[Row], attribute: int, params: GrowParams
) -> tuple[float, float, int, float | None] | None:
    best = None
    for threshold in _thresholds(data, rows, attribute):
        branches = _branches(data, rows, attribute, threshold)
        sizes = [sum(row[2] for row in branch) for branch in branches]
        if sum(size > 0 and size >= params.min_weight - 1e-9 for size in sizes) < 2:
            continue
        total, known = sum(row[2] for row in rows), sum(sizes)
        impurity = _gini if params.criterion == "gini" else _entropy
        whole = _distribution(data, [row for branch in branches for row in branch])
        parts = [_distribution(data, branch) for branch in branches]
        after = sum(sum(part) / known * impurity(part) for part in parts)
        gain = known / total * (impurity(whole) - after)
        if best is None or gain > best[0] + TIE:
            best = (gain, _entropy([*sizes, total - known]), attribute, threshold)
    return best


def _choose(found: list[Any], criterion: str) -> tuple[float, int, float | None]:
    scores = [gain for gain, *_ in found]
    if criterion == "gain_ratio":
        mean = sum(scores) / len(scores)
        scores = [g / info if g >= mean - TIE else -1.0 for g, info, *_ in found]
    first = next(i for i, score in enumerate(scores) if score >= max(scores) - TIE)
    gain, _, attribute, threshold = found[first]
    return gain, attribute, threshold


def _thresholds(data: Dataset, rows: list[Row], attribute: int) -> Iterator[float | None]:
    if data.attributes[attribute].kind == Kind.CATEGORICAL:
        yield None
        return
    values = sorted({row[0][attribute] for row in rows} - {None})
    yield from ((low + high) / 2 for low, high in pairwise(values))


def _branches(
    data: Dataset, rows: list[Row], attribute: int, threshold: float | None
) -> list[list[Row]]:
    known = [row for row in rows if row[0][attribute] is not None]
    if threshold is None:
        n_values = len(data.attributes[attribute].values)
        return [[row for row in known if row[0][attribute] == v] for v in range(n_values)]
    return [
        [row for row in known if row[0][attribute] <= threshold],
        [row for row in known if row[0][attribute] > threshold],
    ]


def _distribution(data: Dataset, rows: list[Row]) -> list[float]:
    return [sum(row[2] for row in rows if row[1] == c) for c in range(len(data.classes))]


def _entropy(weights: list[float]) -> float:
    total = sum(weights)
    return -sum(w / total * log2(w / total) for w in weights if w > 0)


def _gini(weights: list[float]) -> float:
    total = sum(weights)
    return 1 - sum((w / total) ** 2 for w in weights) if total > 0 else 0.0


def naive_predict(tree: Tree, values: list[float | None], node: int = 0) -> list[float]:
    """The definition of a prediction: a null is the mean over the branches by their shares."""
    if tree.attribute[node] < 0:
        total = sum(tree.distribution[node])
        return [float(weight / total) for weight in tree.distribution[node]]
    children = [c for c in range(len(tree)) if tree.parent[c] == node]
    value = values[tree.attribute[node]]
    if value is not None:
        is_cut = tree.split[node] == Split.THRESHOLD
        branch = int(value > tree.value[children[0]]) if is_cut else int(value)
        return naive_predict(tree, values, children[branch])
    below = [(tree.share[c], naive_predict(tree, values, c)) for c in children if tree.share[c] > 0]
    n_classes = tree.distribution.shape[1]
    return [sum(share * answer[k] for share, answer in below) for k in range(n_classes)]
