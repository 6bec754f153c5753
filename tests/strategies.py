"""Random datasets and rows: few values, so that ties, nulls and empty branches are common."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset
from service.tree.params import Params

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.sampled_from([0.1, 0.2, 0.30000000000000004]))
KINDS = st.one_of(
    st.none(), st.tuples(st.sampled_from([Kind.CATEGORICAL, Kind.ORDINAL]), st.integers(1, 4))
)


@st.composite
def attributes(draw: Any) -> tuple[Attribute, ...]:
    kinds = draw(st.lists(KINDS, min_size=1, max_size=3))
    return tuple(
        Attribute(f"a{number}", Kind.NUMERIC)
        if drawn is None
        else Attribute(f"a{number}", drawn[0], tuple("pqrs"[: drawn[1]]))
        for number, drawn in enumerate(kinds)
    )


def cells(attribute: Attribute) -> st.SearchStrategy[float]:
    known = NUMBERS
    if attribute.kind != Kind.NUMERIC:
        known = st.integers(0, len(attribute.values) - 1).map(float)
    return st.one_of(known, known, known, st.just(float("nan")))


def matrices(of: tuple[Attribute, ...], most: int) -> st.SearchStrategy[np.ndarray]:
    rows = st.lists(st.tuples(*map(cells, of)), min_size=1, max_size=most)
    return rows.map(lambda drawn: np.array(drawn, dtype=np.float64, order="F"))


@st.composite
def datasets(draw: Any, most_rows: int = 14, *, regression: bool = False) -> Dataset:
    drawn = draw(attributes())
    values = draw(matrices(drawn, most_rows))
    n_rows, n_classes = len(values), draw(st.integers(2, 3))
    target = st.integers(0, 5).map(float) if regression else st.integers(0, n_classes - 1)
    targets = np.array(draw(st.lists(target, min_size=n_rows, max_size=n_rows)))
    weight = st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.0, 2.0])
    weights = np.array(draw(st.lists(weight, min_size=n_rows, max_size=n_rows)))
    weights[0] = 1.0  # some weight there must be
    classes = () if regression else tuple("xyz"[:n_classes])
    return Dataset(drawn, classes, values, targets, weights)


def grow_params(*criteria: str) -> st.SearchStrategy[Params]:
    named = criteria or ("gain", "gain_ratio", "gini", "misclassification")
    return st.builds(
        Params,
        criterion=st.sampled_from(named),
        categorical=st.sampled_from(["multiway", "subset", "one_vs_rest"]),
        missing=st.sampled_from(["fractional", "fractional", "majority", "own_branch", "stop"]),
        max_depth=st.sampled_from([None, None, 0, 1, 2]),
        min_weight=st.sampled_from([0.0, 0.0, 1.0, 2.0]),
        min_gain=st.sampled_from([0.0, 0.0, 0.1]),
    )
