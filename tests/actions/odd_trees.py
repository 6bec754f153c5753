"""Random trees over attributes with odd names and categories, and what might be sent to them."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st

from service.actions.load import Loaded
from service.storage.records import Version
from service.tree.attribute import Attribute, Kind
from service.tree.compiled import compile_tree
from service.tree.learn import learn
from tests.strategies import datasets, grow_params

NAMES = ["a", "b c", "é", 'q"', "a\\b", "tab\t", "class", "f0", "", "true"]
TEXTS = [
    "x",
    "y z",
    "1",
    "2",
    "-3",
    "0",
    "007",
    "1.5",
    "true",
    "false",
    "é",
    'q"',
    "\\",
    "null",
    "",
    "seven of",
    "seven o",
    "eight let",
]
TARGET, IGNORED = "the target", ("to be ignored", 'igno"red')
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.1, 0.2, 0.30000000000000004, -0.0, 1e300, 2**53, 2**63, 2**64, -(2**70)]),
)
ANYTHING = st.one_of(
    st.none(), st.booleans(), NUMBERS, st.sampled_from(TEXTS), st.just([]), st.just({"a": 1})
)  # fmt: skip


@st.composite
def loaded_trees(draw: Any) -> Loaded:
    """A tree that was never saved."""
    is_regression = draw(st.booleans())
    data = draw(datasets(regression=is_regression))
    params = draw(grow_params(*(("squared_error",) if is_regression else ())))
    names = draw(st.permutations(NAMES))
    attributes = tuple(
        replace(each, name=name, values=tuple(draw(st.permutations(TEXTS))[: len(each.values)]))
        for each, name in zip(data.attributes, names, strict=False)
    )
    compiled = compile_tree(learn(data, params), attributes, data.classes)
    version = Version(
        id=1, model="odd", number=1, task="regression" if is_regression else "classification",
        target=TARGET, classes=data.classes, attributes=attributes, ignored=IGNORED, params={},
        metrics={}, n_rows=1, n_nodes=1, n_leaves=1, depth=1, alpha=None, group_costs={},
        job_id="a job", created_at=datetime(2026, 11, 16, tzinfo=UTC), aliases=(),
    )  # fmt: skip
    return Loaded(version, compiled)


def usual(attribute: Attribute) -> st.SearchStrategy[Any]:
    """A value that an attribute has, or null."""
    known = NUMBERS if attribute.kind == Kind.NUMERIC else st.sampled_from(attribute.values)
    return st.one_of(known, known, known, st.none())


def odd(attribute: Attribute) -> st.SearchStrategy[Any]:
    """Mostly what an attribute has."""
    return st.one_of(usual(attribute), usual(attribute), usual(attribute), ANYTHING)


@st.composite
def rows(draw: Any, loaded: Loaded, *, is_odd: bool) -> list[dict[str, Any]]:
    """Rows with most of the attributes, in any order, and if they are odd whatever else."""
    drawn = []
    for _ in range(draw(st.integers(0, 5))):
        attributes = draw(st.permutations(loaded.version.attributes))
        some = attributes[: draw(st.integers(len(attributes) // 2, len(attributes)))]
        row = {each.name: draw(odd(each) if is_odd else usual(each)) for each in some}
        if is_odd and draw(st.integers(0, 4)) == 0:
            row[draw(st.sampled_from([*NAMES, TARGET, *IGNORED]))] = draw(ANYTHING)
        drawn.append(row)
    return drawn


def columns_of(rows: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The same rows by column."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: [row.get(name) for row in rows] for name in names}
