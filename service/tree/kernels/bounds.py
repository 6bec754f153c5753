"""How many errors to expect of a leaf: the upper limit of a binomial proportion, in three forms."""

from math import exp, lgamma, log, log1p, sqrt
from typing import NamedTuple

from service.tree.arrays import Floats
from service.tree.kernels.compile import kernel

C45, J48, EXACT = range(3)
NEAR = 1e-9  # relative: after so small a step of Newton's no digit is wrong any more
CRUMB = 1e-6  # of a row: a leaf with no more is expected to err in nothing


class Judge(NamedTuple):
    """How a subtree is judged."""

    bound: int
    confidence: float
    deviate: float  # of the normal distribution, where the bound has one
    tolerance: float  # of comparisons
    slack: float  # how much better than its replacement a subtree must be believed to be
    raises: bool  # whether a node's largest branch may take its place


@kernel
def expected_errors(judge: Judge, weight: float, distribution: Floats) -> float:
    """The errors to expect of a leaf with this distribution, which sums to this weight."""
    if weight <= CRUMB:
        return 0.0
    most = 0.0
    for each in distribution:
        most = max(most, each)
    return float(weight - most + more_errors(judge, weight, weight - most))


@kernel
def more_errors(judge: Judge, weight: float, errors: float) -> float:
    """The errors to expect beyond those seen."""
    if judge.bound == C45:
        return float(_more_c45(judge, weight, errors))
    if judge.bound == J48:
        return float(_more_j48(judge, weight, errors))
    return float(_more_exact(judge, weight, errors))


@kernel
def _without_errors(judge: Judge, weight: float) -> float:
    return float(weight * (1.0 - judge.confidence ** (1.0 / weight)))


@kernel
def _more_c45(judge: Judge, weight: float, errors: float) -> float:
    if errors < 1e-6:
        return float(_without_errors(judge, weight))
    if errors < 0.9999:
        none = _without_errors(judge, weight)
        return float(none + errors * (_beyond_c45(judge, weight, 1.0) - none))
    return float(_beyond_c45(judge, weight, errors))


@kernel
def _beyond_c45(judge: Judge, weight: float, errors: float) -> float:
    if errors + 0.5 >= weight:
        return 0.67 * (weight - errors)
    return float(_normal_limit(weight, errors, judge.deviate * judge.deviate) - errors)


@kernel
def _more_j48(judge: Judge, weight: float, errors: float) -> float:
    if judge.confidence > 0.5:
        return 0.0
    if errors == 0:
        return float(_without_errors(judge, weight))
    if errors < 1:
        none = _without_errors(judge, weight)
        return float(none + errors * (_beyond_j48(judge, weight, 1.0) - none))
    return float(_beyond_j48(judge, weight, errors))


@kernel
def _beyond_j48(judge: Judge, weight: float, errors: float) -> float:
    if errors + 0.5 >= weight:
        return max(weight - errors, 0.0)
    return float(_normal_limit(weight, errors, judge.deviate * judge.deviate) - errors)


@kernel
def _normal_limit(weight: float, errors: float, z2: float) -> float:
    """The upper limit of the errors by the normal approximation with continuity correction."""
    e = errors + 0.5
    upper = e + z2 / 2 + sqrt(max(z2 * (e * (1 - e / weight) + z2 / 4), 0.0))
    return weight * upper / (weight + z2)


@kernel
def _more_exact(judge: Judge, weight: float, errors: float) -> float:
    """By the binomial limit: Newton's steps, and a halving where one would leave the bounds."""
    if errors <= 0:
        return float(_without_errors(judge, weight))
    if errors >= weight:
        return 0.0
    a, b, wanted = errors + 1, weight - errors, 1.0 - judge.confidence
    scale = lgamma(a + b) - lgamma(a) - lgamma(b)
    low, high = errors / weight, 1.0
    x = min(max(_normal_limit(weight, errors, judge.deviate**2) / weight, low), 1 - 1e-9)
    for _ in range(60):
        missed = beta_below(x, a, b) - wanted
        low, high = (x, high) if missed < 0 else (low, x)
        slope = exp(scale + (a - 1) * log(x) + (b - 1) * log1p(-x))
        after = x - missed / slope if slope > 0 else 2.0
        is_near = abs(after - x) <= NEAR * min(x, 1 - x)
        x = after if is_near or low < after < high else (low + high) / 2
        if is_near or x >= 1.0:
            break
    return float(max(weight * x - errors, 0.0))


@kernel
def beta_below(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return float(1.0 - _below(1 - x, b, a))
    return float(_below(x, a, b))


@kernel
def _below(x: float, a: float, b: float) -> float:
    """The same by its continued fraction (Lentz), which is for small x."""
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    fraction, c, d = 2.0, 2.0, 1.0  # after the first step, whose term is 1
    for step in range(1, 300):
        half = step // 2
        if step % 2:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        d = 1.0 / _not_zero(1.0 + term * d)
        c = _not_zero(1.0 + term / c)
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * (fraction - 1.0)


@kernel
def _not_zero(x: float) -> float:
    return x if x != 0 else 1e-300
