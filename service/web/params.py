"""The parameters of a training, each with its default, its range, what it does and whose it is."""

from dataclasses import asdict
from typing import Any

from marshmallow import Schema, fields, validate

from service.tree.params import CHOICES, DEFAULT_PRESET, PRESETS, Params
from service.web.fields import MOST, Number, Truth, Whole

DEFAULTS = asdict(Params())
PRESET = """\
What to start from; every part can be replaced by name. `auto`: chooses split form, criterion and \
pruning by cross-validation on the training data. `id3`: information gain, multiway, unpruned \
(Quinlan 1986). `gain_ratio`, `gini`: the same with another criterion. `c45`: C4.5 as J48 has it, \
structure and distributions (Weka). `c45r8`: Quinlan's Release 8 where it differs. `cart`: binary \
splits, gini or for a number squared error, cost-complexity pruning with the 1-SE rule (Breiman \
et al. 1984). `rpart`: the same with that program's way with nulls, equal values and depth."""
ABOUT = {
    "criterion": "What ranks the candidates: information gain (Quinlan 1986), gain ratio (Quinlan "
    "1993), gini or misclassification (Breiman et al. 1984); for a number squared error.",
    "categorical": "How a categorical attribute splits: one branch for each category, two sets of "
    "categories (Breiman et al. 1984, Fisher 1958), or one category against the rest (J48 -B).",
    "missing": "What a null is in training: divided over the branches (C4.5), the node's most "
    "common value or median, a branch of its own, a reason to drop the row, or to stop at the node "
    "(rpart without surrogates).",
    "rules": "The fine print of candidates and their choice: as in textbooks, as in J48 or C4.5 "
    "Release 8 (average gain, MinSplit window, zero gains), or as in rpart.",
    "cut": "Where a threshold lies: midway between two values, just below that (rpart's <), or at "
    "the largest training value not above it (C4.5; J48 -doNotMakeSplitPointActualValue is "
    "midpoint).",
    "search": "How cuts are searched: all of them, or those between the bins of a histogram, which "
    "is faster where there are very many rows; auto: histogram from 200,000 rows on, and from "
    "50,000 where a fifth of all values is null and missing is fractional, if rules are textbook. "
    "A version tells which one it was.",
    "bins": "How many bins an attribute has at the most in a histogram; with no more values than "
    "that, all cuts are searched.",
    "numeric_penalty": "Whether log2(cuts tried) / weight is taken from a numeric gain (Quinlan "
    "1996; J48 -J is false).",
    "collapse": "Whether a subtree with no fewer training errors than a leaf becomes one (C4.5; "
    "J48 -O is false).",
    "max_depth": "How deep the tree may grow; null: as deep as it goes.",
    "min_rows": "A node with fewer rows is a leaf.",
    "min_weight": "A split needs two branches with at least this much known weight (J48 -M).",
    "min_gain": "A split must gain at least this: pre-pruning by a threshold.",
    "cost_rule": "How an attribute's cost counts in the choice: gain / cost (Norton 1989), "
    "(2^gain - 1) / (cost + 1)^w (Nunez 1991), gain^2 / cost (Tan and Schlimmer 1990).",
    "cost_exponent": "The w of power_per_cost; 0 ignores cost.",
    "pruning": "How the tree is cut back: not at all (J48 -U), by held-out rows while it grows, "
    "by reduced error (Quinlan 1987), by penalised loss, by cost-complexity with cross-validation "
    "(Breiman et al. 1984), pessimistically (C4.5), or as auto finds best.",
    "confidence": "Of pessimistic pruning; smaller prunes more (J48 -C).",
    "bound": "The upper limit of pessimistic pruning: C4.5's or J48's approximation, or the exact "
    "binomial one (Clopper and Pearson 1934).",
    "raising": "Whether pessimistic pruning may put a node's largest branch in its place (C4.5; "
    "J48 -S is false).",
    "alpha": "What a leaf costs in penalised loss and cost-complexity, in the unit of the risk; "
    "null: chosen.",
    "risk": "What cost-complexity pruning weighs against size: misclassification (CART, rpart) or "
    "impurity (scikit-learn); for a number it is the squared error.",
    "links": "How the sequence is made: the weakest link first (Breiman et al. 1984), or from the "
    "bottom up as rpart does.",
    "folds": "Of the cross-validation that chooses.",
    "standard_errors": "How many standard errors above the best a smaller tree may be: 1 is the "
    "1-SE rule, 0 takes the best (Breiman et al. 1984).",
    "validation": "The part of the rows that is held out by pruning that needs it, unless "
    "validation_rows names them.",
    "prune_ties": "Whether reduced error also prunes where nothing is lost (Quinlan 1987).",
    "seed": "Of whatever is drawn: folds and held-out rows.",
    "seconds": "The time that auto may take to choose.",
    "leaf_estimate": "What a leaf answers: frequencies, Laplace's estimate (J48 -A), or the "
    "m-estimate towards the root (Cestnik 1990).",
    "estimate_weight": "The m of m_estimate.",
}
RANGES: dict[str, validate.Range] = {
    "bins": validate.Range(min=2, max=255),
    "max_depth": validate.Range(min=0, max=MOST),
    "min_rows": validate.Range(min=1, max=MOST),
    "min_weight": validate.Range(min=0),
    "min_gain": validate.Range(min=0),
    "cost_exponent": validate.Range(min=0, max=1),
    "confidence": validate.Range(min=0, min_inclusive=False, max=1),
    "alpha": validate.Range(min=0),
    "folds": validate.Range(min=2, max=100),
    "standard_errors": validate.Range(min=0),
    "validation": validate.Range(min=0, min_inclusive=False, max=1, max_inclusive=False),
    "seed": validate.Range(min=0, max=MOST),
    "seconds": validate.Range(min=0, min_inclusive=False, max=3600),
    "estimate_weight": validate.Range(min=0),
}
WHOLE = ("bins", "max_depth", "min_rows", "folds", "seed")


def _field(name: str) -> fields.Field[Any]:
    metadata = {"description": f"{ABOUT[name]}{_elsewhere(name)}", "default": DEFAULTS[name]}
    if name in CHOICES:
        choices = validate.OneOf(CHOICES[name])
        return fields.String(validate=choices, metadata=metadata)
    if isinstance(DEFAULTS[name], bool):
        return Truth(metadata=metadata)
    if not RANGES[name].min_inclusive:  # which apispec does not say
        metadata["exclusiveMinimum"] = RANGES[name].min
    if not RANGES[name].max_inclusive:
        metadata["exclusiveMaximum"] = RANGES[name].max
    kind = Whole if name in WHOLE else Number
    return kind(validate=RANGES[name], allow_none=DEFAULTS[name] is None, metadata=metadata)


def _elsewhere(name: str) -> str:
    """The presets in which the default is another one."""
    others = {preset: asdict(params)[name] for preset, params in PRESETS.items()}
    told = [
        f"{preset} = {str(value).lower()}"
        for preset, value in others.items()
        if value != DEFAULTS[name]
    ]
    return f" (By preset: {', '.join(told)}.)" if told else ""


FIELDS = {
    "preset": fields.String(
        load_default=DEFAULT_PRESET,
        validate=validate.OneOf(list(PRESETS)),
        metadata={"description": PRESET},
    ),
    **{name: _field(name) for name in DEFAULTS},
}
ParamsSchema = Schema.from_dict(FIELDS, name="ParamsSchema")
ParamsSchema.__doc__ = "How to learn: a preset, parts of which can be replaced by name."
