"""Random jobs in a child of the fork server, which tells what kernels it had and had to get."""

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.actions.warm import warm
from service.tree.compiled import compile_tree
from service.tree.dataset import Dataset
from service.tree.kernels.compile import n_compiled, n_loaded
from service.tree.learn import study
from service.tree.params import CHOICES, PRESETS, Params
from service.tree.predict import predict
from service.tree.pruners import Task
from service.tree.route import STRATEGIES
from service.tree.walk import walk
from tests.strategies import datasets, grow_params

PRUNINGS = st.sampled_from([each for each in CHOICES["pruning"] if each != "pessimistic"])
FIRM = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


def kernels_had_and_got(_: str) -> tuple[int, int]:
    """How many kernels the child had when it started, and how many more its jobs needed."""
    had = n_compiled() + n_loaded()
    warm()
    _by_presets()
    _by_classes()
    _by_numbers()
    return had, n_compiled() + n_loaded() - had


@FIRM
@given(datasets(), st.sampled_from(sorted(PRESETS)))
def _by_presets(data: Dataset, preset: str) -> None:
    _run(data, PRESETS[preset])


@FIRM
@given(datasets(), grow_params(), PRUNINGS)
def _by_classes(data: Dataset, params: Params, pruning: str) -> None:
    _run(data, replace(params, pruning=pruning))


@FIRM
@given(datasets(regression=True), grow_params("squared_error"), PRUNINGS)
def _by_numbers(data: Dataset, params: Params, pruning: str) -> None:
    _run(data, replace(params, pruning=pruning))


def _run(data: Dataset, params: Params) -> None:
    learned = study(Task(data, replace(params, folds=2), is_late=lambda: True))
    compiled = compile_tree(learned.served, data.attributes, data.classes, learned.params)
    for missing in STRATEGIES:
        predict(compiled, data.values, missing, walk)
