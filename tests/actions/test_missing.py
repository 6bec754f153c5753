"""What becomes of a row that does not know: the conformance row of PMML, by every strategy."""

from typing import Any

import numpy as np
import pytest

from service.actions.explain import explain
from service.actions.predict import by_column, by_row, predict
from service.tree.compiled import compile_tree
from service.tree.cost_complexity import at_alpha
from service.tree.route import STRATEGIES
from service.tree.table import Table, table_of_rows
from tests.actions.golf import CLASSES, golf
from tests.storage.trees import ATTRIBUTES, a_tree, of_numbers, with_sequence

A_DAY = {"outlook": None, "temperature": 40, "humidity": 70}
# Of each strategy: the class, will / may / no play, and how many leaves were reached.
CONFORMANCE = {
    "weighted": ("will play", (0.40, 0.28, 0.32), 2),
    "aggregate": ("may play", (24 / 60, 28 / 60, 8 / 60), 2),
    "last_prediction": ("will play", (0.60, 0.30, 0.10), 1),
    "default_child": ("no play", (0.40, 0.0, 0.60), 1),
}


def a_table(*rows: dict[str, Any]) -> Table:
    return table_of_rows(list(rows), ("rows",), max_cells=1000)


def predicted(row: dict[str, Any], missing: str) -> dict[str, Any]:
    (answer,) = by_row(predict(golf(), a_table(row), missing, strict=False))
    return answer


@pytest.mark.parametrize("missing", CONFORMANCE)
def test_each_strategy_gives_the_answer_of_the_conformance_row(missing: str) -> None:
    said, probabilities, leaves = CONFORMANCE[missing]
    answer = predicted(A_DAY, missing)

    assert answer["class"] == said
    assert answer["probabilities"] == pytest.approx(dict(zip(CLASSES, probabilities, strict=True)))
    assert (answer["leaves"], answer["unknown"]) == (leaves, ["outlook"])


def test_by_the_strategy_none_there_is_no_answer() -> None:
    answer = predict(golf(), a_table(A_DAY, A_DAY | {"outlook": "rain"}), "none", strict=False)
    without, known = by_row(answer)
    columns = by_column(answer)

    assert without == {
        "class": None, "probabilities": None, "leaves": 0, "unknown": ["outlook"], "bounds": None,
        "certain": False,
    }  # fmt: skip
    assert known["class"] == "may play"
    assert columns["class"] == [None, "may play"]
    assert columns["leaves"] == [0, 1]


@pytest.mark.parametrize("missing", STRATEGIES)
def test_a_row_that_knows_is_answered_alike_by_all(missing: str) -> None:
    cold = predicted({"outlook": "sunny", "temperature": 49.9}, missing)
    warm = predicted({"outlook": "sunny", "temperature": 50}, missing)
    rain = predicted({"outlook": "rain"}, missing)  # its temperature does not matter

    assert [each["class"] for each in (cold, warm, rain)] == ["no play", "will play", "may play"]
    assert all(each["certain"] for each in (cold, warm, rain))


@pytest.mark.parametrize(
    ("missing", "weights", "steps"),
    [
        ("weighted", [0.5, 0.5], [["outlook", "outlook"], ["temperature"]]),
        ("default_child", [1.0], [["outlook"], ["temperature"]]),
        ("last_prediction", [1.0], [[]]),
        ("none", [], []),
    ],
)
def test_an_explanation_tells_the_paths_of_the_strategy(
    missing: str, weights: list[float], steps: list[list[str]]
) -> None:
    (told,), _ = explain(golf(), a_table(A_DAY), 10, missing, strict=False)
    deep = [at for path in told["paths"] for at in path["steps"]]

    assert [path["weight"] for path in told["paths"]] == weights
    assert sorted(at["attribute"] for at in deep) == sorted(name for each in steps for name in each)
    assert all(path["steps"][-1]["weight"] == path["weight"] for path in told["paths"] if deep)
    assert told["omitted_paths"] == 0


def test_a_set_of_categories_is_named_on_the_path() -> None:
    (told,), _ = explain(golf(), a_table({"outlook": "rain"}), 10, "weighted", strict=False)
    (step,) = told["paths"][0]["steps"]

    assert (step["operator"], step["value"]) == ("in", ("overcast", "rain"))


@pytest.mark.parametrize("seed", range(5))
def test_the_default_child_is_the_largest_also_where_nodes_are_pruned(seed: int) -> None:
    tree = at_alpha(with_sequence(of_numbers(a_tree(60, seed))), 0.4)
    compiled = compile_tree(tree, ATTRIBUTES, ())

    for node in np.flatnonzero(tree.is_reached & ~tree.is_leaf).tolist():
        first = int(tree.first_child[node])
        shares = tree.share[first : first + tree.n_branches[node]].tolist()
        assert compiled.largest_branch[node] == shares.index(max(shares))
