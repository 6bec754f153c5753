"""The best split of a node on each attribute, and the best of those."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from service.tree.arrays import Floats, Ints
from service.tree.attribute import Kind
from service.tree.criterion import CRITERIA, TIE, Impurity, Score, decrease, entropy, first_best
from service.tree.dataset import Dataset
from service.tree.nodes import Split
from service.tree.params import GrowParams

BLOCK = 1 << 22  # numbers in hand at once while the cuts of a numeric attribute are tried
ROUNDING = 1e-9  # weights that ought to be equal differ by less


@dataclass(frozen=True)
class Part:
    """The rows at one node, each with the weight in which it arrived."""

    rows: Ints
    weights: Floats


@dataclass(frozen=True)
class Candidate:
    """The best split of one attribute; `sizes` is the known weight down each branch."""

    attribute: int
    split: Split
    threshold: float  # NaN for a multiway split
    sizes: Floats
    score: Score


@dataclass(frozen=True)
class Known:
    """The rows of a node that know an attribute, and the weight of those that do not."""

    values: Floats
    target: Ints
    weights: Floats
    null_weight: float


Search: TypeAlias = Callable[[Dataset, int, Known, Impurity, float], "Candidate | None"]


def best_split(data: Dataset, part: Part, params: GrowParams) -> Candidate | None:
    """The split to make at a node, or None where none is worth making."""
    criterion = CRITERIA[params.criterion]
    found = list(candidates(data, part, criterion.impurity, params.min_weight))
    if not found:
        return None
    best = found[criterion.choose([candidate.score for candidate in found])]
    # a split that tells nothing is not made, however small the demand
    if best.score.gain <= TIE or best.score.gain < params.min_gain - TIE:
        return None
    return best


def candidates(
    data: Dataset, part: Part, impurity: Impurity, min_weight: float
) -> Iterator[Candidate]:
    """The best split of each attribute that offers one, in the order of the attributes."""
    for number, attribute in enumerate(data.attributes):
        known = known_of(data, part, number)
        candidate = SEARCHES[attribute.kind](data, number, known, impurity, min_weight)
        if candidate is not None:
            yield candidate


def known_of(data: Dataset, part: Part, attribute: int) -> Known:
    """The rows of a part that know an attribute."""
    values = data.values[part.rows, attribute]
    null = np.isnan(values)
    target = data.target[part.rows]
    if not null.any():
        return Known(values, target, part.weights, 0.0)
    kept = ~null
    null_weight = float(part.weights[null].sum())
    return Known(values[kept], target[kept], part.weights[kept], null_weight)


def search_multiway(
    data: Dataset, attribute: int, known: Known, impurity: Impurity, min_weight: float
) -> Candidate | None:
    """One branch for each category, if at least two of them hold enough weight."""
    n_values, n_classes = len(data.attributes[attribute].values), len(data.classes)
    cells = known.values.astype(np.int64) * n_classes + known.target
    table: Floats = np.bincount(cells, known.weights, n_values * n_classes).astype(np.float64)
    branches = table.reshape(n_values, n_classes)
    sizes = branches.sum(axis=1)
    if np.count_nonzero((sizes > 0) & (sizes >= min_weight - ROUNDING)) < 2:
        return None
    gain = float(decrease(impurity, branches))
    return Candidate(attribute, Split.MULTIWAY, np.nan, sizes, _score(gain, sizes, known))


def search_threshold(
    data: Dataset, attribute: int, known: Known, impurity: Impurity, min_weight: float
) -> Candidate | None:
    """The cut midway between two neighbouring values that gains most; the lowest of equals."""
    order = np.argsort(known.values, kind="stable")
    values = known.values[order]
    cuts = np.flatnonzero(values[1:] > values[:-1])
    if len(cuts) == 0:
        return None
    sorted_rows = Known(values, known.target[order], known.weights[order], known.null_weight)
    gains, lefts = cut_gains(sorted_rows, cuts, len(data.classes), impurity)
    total = known.weights.sum()
    allowed = np.minimum(lefts, total - lefts) >= min_weight - ROUNDING
    if not allowed.any():
        return None
    best = first_best(np.where(allowed, gains, -np.inf))
    sizes = np.array([lefts[best], total - lefts[best]])
    threshold = midpoint(float(values[cuts[best]]), float(values[cuts[best] + 1]))
    score = _score(float(gains[best]), sizes, known)
    return Candidate(attribute, Split.THRESHOLD, threshold, sizes, score)


def cut_gains(
    known: Known, cuts: Ints, n_classes: int, impurity: Impurity
) -> tuple[Floats, Floats]:
    """Per cut behind a sorted row its gain and the weight to its left, block by block."""
    total = np.bincount(known.target, known.weights, n_classes)
    gains, lefts = np.empty(len(cuts)), np.empty(len(cuts))
    passed = np.zeros(n_classes)
    step = max(1, BLOCK // n_classes)
    for start in range(0, int(cuts[-1]) + 1, step):
        rows = slice(start, start + step)
        running = np.zeros((len(known.target[rows]), n_classes))
        running[np.arange(len(running)), known.target[rows]] = known.weights[rows]
        running = passed + np.cumsum(running, axis=0)
        here = slice(*np.searchsorted(cuts, [start, start + step]).tolist())
        left = running[cuts[here] - start]
        branches = np.stack([left, np.maximum(total - left, 0.0)], axis=-2)
        gains[here], lefts[here] = decrease(impurity, branches), left.sum(axis=-1)
        passed = running[-1]
    return gains, lefts


def midpoint(low: float, high: float) -> float:
    """A number m with low <= m < high, halfway where floating point has one there."""
    middle = (low + high) / 2
    if not np.isfinite(middle):
        middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def _score(gain: float, sizes: Floats, known: Known) -> Score:
    known_weight = float(sizes.sum())
    rho = known_weight / (known_weight + known.null_weight)
    return Score(rho * gain, float(entropy(np.append(sizes, known.null_weight))))


SEARCHES: dict[Kind, Search] = {
    Kind.NUMERIC: search_threshold,
    Kind.CATEGORICAL: search_multiway,
}
