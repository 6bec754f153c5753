"""The fine print of C4.5: Weka's J48, and Quinlan's Release 8.

Every comparison of J48 has a tolerance of 1e-6. Release 8 has none but for rounding. The rest of
what they differ in is named below. See docs/algorithms.md for the list.
"""

from dataclasses import dataclass

import numpy as np

from service.tree.arrays import Bools, Floats
from service.tree.params import Params

NEARLY = 1e-3  # how far below the average a gain may lie
WIDE = 0.3  # an attribute with this many categories a row stays out of the average


@dataclass(frozen=True)
class Rules:
    """The fine print in which the two differ."""

    tolerance: float  # of comparisons, of logarithms near 0, of shares
    least_info: float  # a split info not above this makes no ratio
    zero_gain_splits: bool
    counts_rows: bool  # whether a numeric attribute needs rows or weight


J48 = Rules(tolerance=1e-6, least_info=0.0, zero_gain_splits=False, counts_rows=True)
R8 = Rules(tolerance=1e-12, least_info=1e-3, zero_gain_splits=True, counts_rows=False)
C45 = {"j48": J48, "r8": R8}


def tolerance_of(params: Params) -> float:
    """How much the rules let comparisons miss: nothing, but for J48."""
    return C45[params.rules].tolerance if params.rules in C45 else 0.0


def is_empty(params: Params, weight: Floats) -> Bools:
    """Whether nodes of this weight count as empty, and so answer with what their parents know."""
    return np.asarray((weight == 0) | (weight < tolerance_of(params)))
