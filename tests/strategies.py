"""Random datasets and rows: few values, so that ties, nulls and empty branches are common."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from service.tree.attribute import Attribute, Kind
from service.tree.dataset import Dataset
from service.tree.params import GrowParams

NUMBERS = st.one_of(st.integers(-3, 3).map(float), st.sampled_from([0.1, 0.2, 0.30000000000000004]))


@st.composite
def attributes(draw: Any) -> tuple[Attribute, ...]:
    kinds = draw(st.lists(st.one_of(st.none(), st.integers(1, 4)), min_size=1, max_size=3))
    return tuple(
        Attribute(f"a{number}", Kind.NUMERIC)
        if n_values is None
        else Attribute(f"a{number}", Kind.CATEGORICAL, tuple("pqrs"[:n_values]))
        for number, n_values in enumerate(kinds)
    )


def cells(attribute: Attribute) -> st.SearchStrategy[float]:
    known = NUMBERS
    if attribute.kind == Kind.CATEGORICAL:
        known = st.integers(0, len(attribute.values) - 1).map(float)
    return st.one_of(known, known, known, st.just(float("nan")))


def matrices(of: tuple[Attribute, ...], most: int) -> st.SearchStrategy[np.ndarray]:
    rows = st.lists(st.tuples(*map(cells, of)), min_size=1, max_size=most)
    return rows.map(lambda drawn: np.array(drawn, dtype=np.float64, order="F"))


@st.composite
def datasets(draw: Any, most_rows: int = 14) -> Dataset:
    drawn = draw(attributes())
    values = draw(matrices(drawn, most_rows))
    n_rows, n_classes = len(values), draw(st.integers(2, 3))
    target = draw(st.lists(st.integers(0, n_classes - 1), min_size=n_rows, max_size=n_rows))
    weight = st.sampled_from([0.0, 0.5, 1.0, 1.0, 1.0, 2.0])
    weights = np.array(draw(st.lists(weight, min_size=n_rows, max_size=n_rows)))
    weights[0] = 1.0  # some weight there must be
    classes = tuple("xyz"[:n_classes])
    return Dataset(drawn, classes, values, np.array(target, dtype=np.int64), weights)


def grow_params() -> st.SearchStrategy[GrowParams]:
    return st.builds(
        GrowParams,
        criterion=st.sampled_from(["gain", "gain_ratio", "gini"]),
        max_depth=st.sampled_from([None, None, 0, 1, 2]),
        min_weight=st.sampled_from([0.0, 0.0, 1.0, 2.0]),
        min_gain=st.sampled_from([0.0, 0.0, 0.1]),
    )
