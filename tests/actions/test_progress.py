"""What a training tells of its way."""

from itertools import groupby
from random import Random
from typing import Any

import pytest

from service.actions.request import EvaluationPlan, TrainRequest, write_request
from service.actions.train import train
from service.storage.records import Progress
from service.tree.params import resolve
from service.tree.table import Table
from service.tree.training import Plan

N_ROWS = 80
EVALUATIONS = {
    "none": EvaluationPlan("none"),
    "hold_out": EvaluationPlan("hold_out"),
    "folds": EvaluationPlan("cross_validation", folds=4, nulled=False),
}


def told(preset: str, evaluation: str = "folds") -> list[Progress]:
    """All that a training in noise tells."""
    draw = Random(0)
    columns: dict[str, list[Any]] = {name: [draw.random() for _ in range(N_ROWS)] for name in "ab"}
    columns["y"] = [draw.choice("pq") for _ in range(N_ROWS)]
    table = Table(columns, N_ROWS, ("data", "columns"))
    params, plan = resolve(preset, {"seconds": 0.1}), EVALUATIONS[evaluation]
    request = TrainRequest("noise", Plan("y"), table, preset, params, evaluation=plan)
    heard: list[Progress] = []
    train(write_request(request), 1000, heard.append)
    return heard


@pytest.mark.parametrize("evaluation", EVALUATIONS)
@pytest.mark.parametrize("preset", ["gini", "c45", "cart", "auto"])
def test_a_training_only_goes_forward(preset: str, evaluation: str) -> None:
    heard = told(preset, evaluation)
    fractions = [each.fraction for each in heard]

    assert ["encode", "grow", "evaluate"] == [
        stage for stage, _ in groupby(heard, lambda p: p.stage)
    ]
    assert sorted(fractions) == fractions
    assert 0.0 == fractions[0] <= fractions[-1] <= 1.0


def test_rows_are_known_once_they_are_encoded_and_nodes_once_they_have_grown() -> None:
    first, *later = told("gini")
    evaluated = [each for each in later if each.stage == "evaluate"]

    assert 0 == first.rows
    assert {N_ROWS} == {each.rows for each in later}
    assert later[0].nodes == 0 < max(each.nodes for each in later)
    assert 1 == len({each.nodes for each in evaluated})


def test_each_tree_of_the_evaluation_is_as_long_a_way_as_the_tree_itself() -> None:
    evaluated = [each.fraction for each in told("gini") if each.stage == "evaluate"]

    assert 1 / 5 == evaluated[0]
    assert {2 / 5, 3 / 5, 4 / 5, 1.0} <= set(evaluated)
