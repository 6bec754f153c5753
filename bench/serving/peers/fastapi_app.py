"""FastAPI, pydantic and scikit-learn: a model of the rows, and one of the answers."""

from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel, Field, create_model

from bench.serving.peers.trees import answers, encoder, fetched, schema

_schema = schema()
_fields: dict[str, Any] = {
    name: ((str if n else float) | None, ...)
    for name, n in zip(_schema.names, _schema.n_categories, strict=True)
}
Row = create_model("Row", **_fields)
tree, encode = fetched(), encoder()
app = FastAPI()


class Question(BaseModel):
    """Rows to predict."""

    rows: list[Row]  # type: ignore[valid-type]


class Prediction(BaseModel):
    """What is said of a row."""

    best: str = Field(alias="class")
    probabilities: dict[str, float]


class Answer(BaseModel):
    """What is said of the rows."""

    predictions: list[Prediction]


@app.post("/predict")
async def predict(question: Question) -> Answer:
    """The predictions."""
    matrix = encode(vars(row).values() for row in question.rows)
    return Answer.model_validate({"predictions": answers(tree, matrix)})
