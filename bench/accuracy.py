"""Cross-validation error of `auto` beside J48, rpart and scikit-learn, on the same folds.

    .venv/bin/python -m bench.accuracy [set ...]

Theirs are the stored results of tests/data/oracles: J48 and rpart with their defaults, scikit-learn
with ccp_alpha chosen by inner cross-validation. Ours is trained here, fold by fold.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from service.tree.compiled import compile_tree
from service.tree.dataset import rows_of
from service.tree.learn import study
from service.tree.params import PRESETS
from service.tree.predict import predict
from service.tree.pruners import Task
from tests.oracles.sets import CLASSIFICATION, OracleSet, expected, oracle_set

PEERS: dict[str, Callable[[str], float]] = {
    "J48": lambda name: expected("j48_weka39", name, "default_pruned")["cv"]["error_rate"],
    "rpart": lambda name: expected("rpart", name, "default")["cv"]["error_rate"],
    "sklearn gini": lambda name: expected("sklearn", name, "gini")["cv_ccp_inner"]["error_rate"],
    "sklearn entropy": lambda name: expected("sklearn", name, "entropy")["cv_ccp_inner"][
        "error_rate"
    ],
}


def error_of_auto(given: OracleSet, seconds: float) -> float:
    """The part of the rows that trees trained without their fold get wrong."""
    params = replace(PRESETS["auto"], seconds=seconds)
    wrong = 0
    for fold in np.unique(given.folds):
        training, held = (rows_of(given.data, given.folds != fold),
                          rows_of(given.data, given.folds == fold))  # fmt: skip
        end = time.monotonic() + seconds
        task = Task(training, params, is_late=lambda end=end: time.monotonic() > end)
        learned = study(task)
        compiled = compile_tree(learned.served, held.attributes, held.classes, learned.params)
        wrong += int((predict(compiled, held.values).classes != held.target).sum())
    return wrong / len(given.data.target)


def main(names: list[str]) -> None:
    """Prints one line a set, and the means."""
    columns = [*PEERS, "auto"]
    print(f"{'set':18}" + "".join(f"{column:>17}" for column in columns) + f"{'seconds':>10}")
    table = []
    for name in names:
        started = time.monotonic()
        errors = [peer(name) for peer in PEERS.values()]
        errors.append(error_of_auto(oracle_set(name), PRESETS["auto"].seconds))
        table.append(errors)
        spent = time.monotonic() - started
        print(f"{name:18}" + "".join(f"{error:17.4f}" for error in errors) + f"{spent:10.1f}")
    means = np.mean(table, axis=0)
    print(f"{'mean':18}" + "".join(f"{mean:17.4f}" for mean in means))


if __name__ == "__main__":
    main(sys.argv[1:] or CLASSIFICATION)
