"""MLflow and scikit-learn: a model as `mlflow models serve` takes it."""

import mlflow.sklearn

from bench.serving.peers.trees import directory, grown

if __name__ == "__main__":
    mlflow.sklearn.save_model(
        grown(),
        directory() / "mlflow",
        pyfunc_predict_fn="predict_proba",
        pip_requirements=[],
        serialization_format="cloudpickle",
    )
