"""BentoML and scikit-learn: an array in, an array out."""

import os
from typing import Annotated

import bentoml
import numpy as np
from bentoml.validators import DType

from bench.serving.peers.trees import fetched

N_WORKERS = int(os.environ["BENCH_WORKERS"])


@bentoml.service(workers=N_WORKERS, traffic={"timeout": 120})
class Served:
    """The tree as a service."""

    def __init__(self) -> None:
        self.tree = fetched()

    @bentoml.api
    def predict(self, rows: Annotated[np.ndarray, DType("float64")]) -> np.ndarray:  # type: ignore[type-arg]
        """The probabilities."""
        return self.tree.predict_proba(rows)
