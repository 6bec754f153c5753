"""POST /predict and POST /explain: the hot routes, in the contract but without its schemas."""

from collections.abc import Callable
from typing import Any

from flask import Response, jsonify

from service.actions.explain import explain
from service.actions.load import Loaded, load
from service.actions.predict import by_column, by_row, predict
from service.web import examples
from service.web.blueprint import WITH_BODY, Blueprint, View
from service.web.bodies import read_body
from service.web.components import SELECTED_IN_PATH, ref
from service.web.context import context
from service.web.question import Limits, Question, read_question

blp = Blueprint("predict", __name__, description="Predict rows, and explain predictions.")


def _hot(
    request: str, example: dict[str, Any], answer: str, answered: dict[str, Any]
) -> Callable[[View], View]:
    """Documents a view that reads its body and writes its answer itself."""
    sent = {"application/json": {"schema": ref(request), "example": example}}
    told = {"application/json": {"schema": ref(answer), "example": answered}}

    def decorate(view: View) -> View:
        documented: View = blp.documented(
            requestBody={"required": True, "content": sent},
            responses={200: {"description": "One answer a row, in order.", "content": told}},
        )(view)
        failing: View = blp.fails(404, *WITH_BODY)(documented)
        return failing

    return decorate


@blp.route("/predict", methods=["POST"])
@_hot("PredictRequest", examples.PREDICT, "PredictAnswer", examples.PREDICTIONS)
def predict_rows() -> Response:
    """Predict rows with a model.

    At a split whose attribute is unknown the row goes down every branch, carrying weight; the
    answer is the weighted mean of the leaves, and says how sure it is of the path. `missing` asks
    for another way with nulls.
    """
    return _predict(None)


@blp.route("/models/<name>/predict", methods=["POST"], parameters=[SELECTED_IN_PATH])
@_hot("ModelPredictRequest", examples.QUESTION, "PredictAnswer", examples.PREDICTIONS)
def predict_rows_with_model(name: str) -> Response:
    """Predict rows with the model in the address."""
    return _predict(name)


@blp.route("/explain", methods=["POST"])
@_hot("ExplainRequest", examples.PREDICT, "ExplainAnswer", examples.EXPLANATIONS)
def explain_rows() -> Response:
    """Explain predictions: each with the weighted paths that it is the mean of."""
    settings = context().settings
    limits = Limits(settings.max_explain_rows, settings.max_train_cells)
    question = read_question(read_body(), limits, name=None, also=frozenset())
    loaded = _load(question)
    explanations, strangers = explain(
        loaded,
        question.table,
        settings.max_explain_paths,
        question.missing,
        strict=question.is_strict,
    )
    return _answer(loaded, explanations=explanations, warnings=strangers)


def _predict(name: str | None) -> Response:
    settings = context().settings
    limits = Limits(settings.max_predict_rows, settings.max_train_cells)
    question = read_question(read_body(), limits, name=name, also=frozenset({"layout"}))
    loaded = _load(question)
    answer = predict(loaded, question.table, question.missing, strict=question.is_strict)
    predictions = by_column(answer) if question.is_by_column else list(by_row(answer))
    return _answer(loaded, predictions=predictions, warnings=answer.strangers)


def _load(question: Question) -> Loaded:
    with context().store.reading() as session:
        return load(session, context().cache, question.selection)


def _answer(loaded: Loaded, **answers: Any) -> Response:
    version = loaded.version
    head = {"model": version.model, "version": version.number, "task": version.task}
    return jsonify(head | answers)
