"""How many errors to expect of a leaf: the upper limit of a binomial proportion, in three forms."""

from collections.abc import Callable
from math import exp, lgamma, log, log1p, sqrt
from statistics import NormalDist
from typing import TypeAlias

Bound: TypeAlias = Callable[[float, float, float], float]  # weight, errors, confidence -> more


def _without_errors(weight: float, confidence: float) -> float:
    return float(weight * (1.0 - confidence ** (1.0 / weight)))


def more_errors_j48(weight: float, errors: float, confidence: float) -> float:
    """The errors to expect beyond those seen, as Weka estimates them."""
    if confidence > 0.5:
        return 0.0
    if errors < 1:
        none = _without_errors(weight, confidence)
        if errors == 0:
            return none
        return none + errors * (more_errors_j48(weight, 1.0, confidence) - none)
    if errors + 0.5 >= weight:
        return max(weight - errors, 0.0)
    z = -NormalDist().inv_cdf(confidence)  # 1 - confidence may round to 1
    return _normal_limit(weight, errors, z * z) - errors


TABLE = ((0.0, 4.0), (0.001, 3.09), (0.005, 2.58), (0.01, 2.33), (0.05, 1.65),
         (0.10, 1.28), (0.20, 0.84), (0.40, 0.25), (1.0, 0.0))  # fmt: skip


def more_errors_c45(weight: float, errors: float, confidence: float) -> float:
    """The errors to expect beyond those seen, as C4.5 Release 8 estimates them."""
    none = _without_errors(weight, confidence)
    if errors < 1e-6:
        return none
    if errors < 0.9999:
        return none + errors * (more_errors_c45(weight, 1.0, confidence) - none)
    if errors + 0.5 >= weight:
        return 0.67 * (weight - errors)
    z = _deviate(confidence)
    return _normal_limit(weight, errors, z * z) - errors


def _deviate(confidence: float) -> float:
    at = next(i for i, (limit, _) in enumerate(TABLE) if confidence <= limit)
    if at == 0:
        return TABLE[0][1]
    (low, z_low), (high, z_high) = TABLE[at - 1], TABLE[at]
    return z_low + (z_high - z_low) * (confidence - low) / (high - low)


def _normal_limit(weight: float, errors: float, z2: float) -> float:
    """The upper limit of the errors by the normal approximation with continuity correction."""
    e = errors + 0.5
    upper = e + z2 / 2 + sqrt(max(z2 * (e * (1 - e / weight) + z2 / 4), 0.0))
    return weight * upper / (weight + z2)


def more_errors_exact(weight: float, errors: float, confidence: float) -> float:
    """The errors to expect beyond those seen, by the binomial limit (Clopper and Pearson)."""
    if errors <= 0:
        return _without_errors(weight, confidence)
    if errors >= weight:
        return 0.0
    low, high = errors / weight, 1.0
    for _ in range(60):  # enough halvings for every bit
        middle = (low + high) / 2
        if beta_below(middle, errors + 1, weight - errors) < 1 - confidence:
            low = middle
        else:
            high = middle
    return max(weight * low - errors, 0.0)


def beta_below(x: float, a: float, b: float) -> float:
    """The regularised incomplete beta function, by its continued fraction (Lentz)."""
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):
        return 1.0 - beta_below(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    fraction, c, d = 1.0, 1.0, 0.0
    for step in range(300):
        half, odd = divmod(step, 2)
        if step == 0:
            term = 1.0
        elif odd:
            term = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            term = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        d = 1.0 / (1.0 + term * d or 1e-300)
        c = 1.0 + term / c or 1e-300
        fraction *= c * d
        if abs(c * d - 1) < 1e-15:
            break
    return front * (fraction - 1.0)


def deviate(bound: str, confidence: float) -> float:
    """How many standard deviations a bound goes up."""
    if bound == "c45":
        return _deviate(confidence)
    # 1 - confidence may round to 1; beyond a half Weka expects nothing more
    return -NormalDist().inv_cdf(confidence) if confidence <= 0.5 else 0.0


BOUNDS: dict[str, Bound] = {
    "c45": more_errors_c45,
    "j48": more_errors_j48,
    "exact": more_errors_exact,
}
