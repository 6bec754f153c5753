"""The melons: the examples of the contract."""

from typing import Any

JOB_ID = "5f0c1d0e-8d4b-4f0e-9b57-3a4f1c1f2a60"
ROWS: list[dict[str, Any]] = [
    {"colour": "green", "density": 0.697, "ripe": "yes"},
    {"colour": "black", "density": 0.774, "ripe": "yes"},
    {"colour": "black", "density": 0.243, "ripe": "no"},
    {"colour": "white", "density": None, "ripe": "no"},
]
TRAIN: dict[str, Any] = {
    "model": "melons",
    "target": "ripe",
    "data": {"rows": ROWS},
    "attributes": [
        {"name": "colour", "kind": "categorical", "values": ["green", "black", "white"]},
        {"name": "density", "kind": "numeric", "cost": 2.5},
    ],
    "params": {"preset": "c45", "confidence": 0.1},
    "evaluation": {"method": "cross_validation", "folds": 10, "seed": 0},
}
QUESTION: dict[str, Any] = {"rows": [{"colour": None, "density": 0.4}]}
PREDICT: dict[str, Any] = {"model": "melons@champion", **QUESTION}
PREDICTION: dict[str, Any] = {
    "class": "yes",
    "probabilities": {"yes": 0.71, "no": 0.29},
    "leaves": 2,
    "unknown": ["colour"],
    "bounds": {"yes": [0.2, 0.93], "no": [0.07, 0.8]},
    "certain": False,
}
_VERSION: dict[str, Any] = {"model": "melons", "version": 3, "task": "classification"}
PREDICTIONS: dict[str, Any] = {**_VERSION, "predictions": [PREDICTION], "warnings": []}
STEP: dict[str, Any] = {
    "node": 0,
    "attribute": "colour",
    "operator": "=",
    "value": "green",
    "given": None,
    "share": 0.7,
    "weight": 0.7,
}
PATH: dict[str, Any] = {
    "weight": 0.7,
    "leaf": 4,
    "support": 12.4,
    "distribution": {"yes": 11.5, "no": 0.9},
    "steps": [STEP],
}
EXPLANATIONS: dict[str, Any] = {
    **_VERSION,
    "explanations": [{**PREDICTION, "paths": [PATH], "omitted_paths": 1}],
    "warnings": [],
}
EVALUATE: dict[str, Any] = {"rows": ROWS}
EVALUATION: dict[str, Any] = {
    **_VERSION,
    "metrics": {"rows": 4, "weight": 4.0, "accuracy": 0.75, "log_loss": 0.41, "brier": 0.27},
    "warnings": [],
}
