"""Warming: small trainings that use every kernel, so that each is compiled, or was and is loaded.

They go through the learner as all others do, so that kernels meet the types of earnest data.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from service.tree.attribute import Kind
from service.tree.checks import contradictions
from service.tree.compiled import compile_tree
from service.tree.costs import expected_costs
from service.tree.crew import dismiss
from service.tree.dataset import Dataset, rows_of
from service.tree.encode import Declaration
from service.tree.learn import study
from service.tree.params import CHOICES, PRESETS, Params
from service.tree.predict import predict
from service.tree.pruners import Learned, Task
from service.tree.route import STRATEGIES
from service.tree.table import Table
from service.tree.training import Plan, make_dataset
from service.tree.walk import answers, walk

N_ROWS = 24
MANY_ROWS = 20_000  # of which large nodes are shared out to threads
# Values that come again and again, each at a pace of its own, so that there is much to split.
PLAIN: Mapping[str, tuple[Any, ...]] = {
    "size": (1.5, 2.5, 0.5, 4.0, 3.5, 2.5, 1.0),
    "colour": ("green", "black", "white", "green", "yellow"),
    "grade": ("low", "high", "middle"),
}
WEIGHT = "weight"
DIFFICULT = {name: (*values, None) for name, values in PLAIN.items()} | {WEIGHT: (1.0, 0.5, 2.0)}
TARGETS: Mapping[str, tuple[Any, ...]] = {
    "two classes": ("yes", "yes", "no", "yes", "no", "no"),
    "three classes": ("yes", "no", "no", "perhaps"),
    "number": (0.5, 1.25, 0.75, 4.5, 2.5),
}
DECLARED = (
    Declaration("colour", cost=2.0, group="looks"),
    Declaration("grade", Kind.ORDINAL, ("low", "middle", "high")),
)


def load() -> None:
    """Have the kernels ready in this process that jobs call, by as few trainings as call them."""
    for target in TARGETS:
        for inputs in (PLAIN, DIFFICULT):
            data = _dataset(inputs, target)
            presets = {each.pruning: each for each in _presets(target)}
            for params in (*presets.values(), replace(presets["none"], pruning="hold_out")):
                learned = _learned(data, params)
            _predict(data, learned)
        large = rows_of(_dataset(PLAIN, target), np.resize(np.arange(N_ROWS), MANY_ROWS))
        plain = next(_presets(target))
        for search in ("exact", "histogram"):
            _learned(large, replace(plain, search=search))
        # with nulls, a histogram has kernels of its own
        _learned(_dataset(DIFFICULT, target), replace(plain, search="histogram"))
    dismiss()


def warm() -> None:
    """Have all kernels ready in this process, and kept for the next where that is possible."""
    load()
    for target in TARGETS:
        plain, difficult = _dataset(PLAIN, target), _dataset(DIFFICULT, target)
        presets = list(_presets(target))
        for params in presets:
            _predict(plain, _learned(plain, params))
        for params in (*presets, *_choices(target, presets)):
            _predict(difficult, _learned(difficult, params))


def warm_beside() -> None:
    """The same, beginning with all that needs no exact search, whose kernel takes longest."""
    for target in TARGETS:
        for inputs in (DIFFICULT, PLAIN):
            large = rows_of(_dataset(inputs, target), np.resize(np.arange(N_ROWS), MANY_ROWS))
            plain = replace(next(_presets(target)), search="histogram")
            for pruning in CHOICES["pruning"]:
                if pruning != "auto" and _fits(replace(plain, pruning=pruning), {}, target):
                    _predict(large, _learned(large, replace(plain, pruning=pruning)))
    warm()


def _dataset(inputs: Mapping[str, tuple[Any, ...]], target: str) -> Dataset:
    columns = {**inputs, target: TARGETS[target]}
    repeated = {name: list(islice(cycle(columns[name]), N_ROWS)) for name in columns}
    plan = Plan(target, DECLARED, weight=WEIGHT if WEIGHT in inputs else None)
    return make_dataset(Table(repeated, N_ROWS, ("data", "columns")), plan)


def _learned(data: Dataset, params: Params) -> Learned:
    return study(Task(data, params, is_late=lambda: True))


def _predict(data: Dataset, learned: Learned) -> None:
    compiled = compile_tree(learned.served, data.attributes, data.classes, learned.params)
    for missing in STRATEGIES:
        answers(compiled, data.values, missing)
        predict(compiled, data.values, missing, walk)
        expected_costs(compiled, data.values, missing, data.group_costs, walk)


def _presets(target: str) -> Iterator[Params]:
    """The presets that fit the target, the slow one last, with as few folds as there can be."""
    for preset in sorted(PRESETS.values(), key=lambda each: each.pruning == "auto"):
        quick = replace(preset, folds=2)
        if _is_number(target):
            quick = replace(quick, criterion="squared_error")
        if _fits(quick, {}, target):
            yield quick


def _choices(target: str, presets: list[Params]) -> Iterator[Params]:
    """Every choice there is, one at a time, made in the first preset that it fits."""
    for name, values in CHOICES.items():
        for value in values:
            chosen: dict[str, Any] = {name: value}
            made = (replace(each, **chosen) for each in presets)
            yield from islice((each for each in made if _fits(each, chosen, target)), 1)


def _fits(params: Params, chosen: Mapping[str, Any], target: str) -> bool:
    found = contradictions(params, chosen, is_regression=_is_number(target), has_costs=True)
    return next(found, None) is None


def _is_number(target: str) -> bool:
    return type(TARGETS[target][0]) is float
