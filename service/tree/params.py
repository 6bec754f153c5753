"""How a tree is to be grown and pruned: presets, each of whose parts can be overridden by name."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any


@dataclass(frozen=True)
class Params:
    """What the learner is told. docs/algorithms.md has a line and a reference for each."""

    # growing
    criterion: str = "gain"
    categorical: str = "multiway"  # multiway, subset, one_vs_rest
    missing: str = "fractional"  # fractional, majority, own_branch, drop, stop
    rules: str = "textbook"  # textbook, j48, r8, rpart: the fine print of candidates
    cut: str = "midpoint"  # midpoint, below_midpoint, training_value
    search: str = "auto"  # exact, histogram; auto: by the number of rows
    bins: int = 255  # of an attribute in a histogram
    numeric_penalty: bool = False  # log2(cuts tried) / weight is taken from a numeric gain
    collapse: bool = False  # a subtree with no fewer training errors than a leaf becomes one
    max_depth: int | None = None  # None: as deep as it goes
    min_rows: int = 2  # a node with fewer rows is a leaf
    min_weight: float = 0.0  # a split needs two branches that hold at least this much known weight
    min_gain: float = 0.0  # a split must gain at least this, and always more than nothing
    cost_rule: str = "none"  # none, gain_per_cost, power_per_cost, gain_squared_per_cost
    cost_exponent: float = 1.0  # w of power_per_cost, 0 ignores cost
    # pruning
    pruning: str = "none"
    confidence: float = 0.25  # of pessimistic pruning
    bound: str = "exact"  # of pessimistic pruning: c45, j48, exact
    raising: bool = True  # pessimistic pruning may put a node's largest branch in its place
    alpha: float | None = None  # of penalised loss and cost-complexity; None: chosen
    risk: str = "misclassification"  # of cost-complexity; or impurity; squared error in regression
    links: str = "weakest_link"  # of cost-complexity: weakest_link, rpart
    folds: int = 10  # of the cross-validation that chooses alpha
    standard_errors: float = 1.0  # towards the smaller tree
    validation: float = 0.3  # the part of the rows held out by pruning that needs it
    prune_ties: bool = True  # reduced error: also prune where accuracy stays the same
    seed: int = 0
    seconds: float = 10.0  # the time that auto may take to choose
    # answering
    leaf_estimate: str = "frequency"  # frequency, laplace, m_estimate
    estimate_weight: float = 10.0  # m of m_estimate


CHOICES: dict[str, tuple[str, ...]] = {
    "criterion": ("gain", "gain_ratio", "gini", "misclassification", "squared_error"),
    "categorical": ("multiway", "subset", "one_vs_rest"),
    "missing": ("fractional", "majority", "own_branch", "drop", "stop"),
    "rules": ("textbook", "j48", "r8", "rpart"),
    "cut": ("midpoint", "below_midpoint", "training_value"),
    "search": ("auto", "exact", "histogram"),
    "cost_rule": ("none", "gain_per_cost", "power_per_cost", "gain_squared_per_cost"),
    "pruning": (
        "none", "hold_out", "reduced_error", "penalised", "cost_complexity", "pessimistic", "auto",
    ),
    "bound": ("c45", "j48", "exact"),
    "risk": ("misclassification", "impurity"),
    "links": ("weakest_link", "rpart"),
    "leaf_estimate": ("frequency", "laplace", "m_estimate"),
}  # fmt: skip

C45 = Params(
    criterion="gain_ratio",
    rules="j48",
    cut="training_value",
    numeric_penalty=True,
    collapse=True,
    min_weight=2.0,
    pruning="pessimistic",
    bound="j48",
)
CART = Params(
    criterion="gini",
    categorical="subset",
    rules="rpart",
    min_weight=1.0,
    pruning="cost_complexity",
    links="rpart",
)
PRESETS: dict[str, Params] = {
    "auto": Params(pruning="auto"),
    "id3": Params(),
    "gain_ratio": Params(criterion="gain_ratio"),
    "gini": Params(criterion="gini"),
    "c45": C45,
    "c45r8": replace(C45, rules="r8", bound="c45"),
    "cart": CART,
    # with rpart's way with nulls, equal values and depth
    "rpart": replace(CART, missing="stop", cut="below_midpoint", max_depth=30),
}
DEFAULT_PRESET = "auto"


def resolve(preset: str, overrides: Mapping[str, Any]) -> Params:
    """The preset with the parts that were named replaced."""
    return replace(PRESETS[preset], **overrides)


def params_of(stored: Mapping[str, Any]) -> Params:
    """The params that a version was trained with; what is stored beside them is left out."""
    return Params(
        **{each.name: stored[each.name] for each in fields(Params) if each.name in stored}
    )
