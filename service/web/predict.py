"""POST /predict and POST /explain: the hot routes, in the contract but without its schemas."""

from collections.abc import Callable, Mapping
from typing import Any

from flask import Response, jsonify, request

from service.actions.ask import ask
from service.actions.ask_parts import ask_in_parts
from service.actions.bulk import Asked
from service.actions.explain import explain
from service.actions.load import Loaded
from service.actions.names import Selected
from service.actions.predict import by_column, by_row, predict
from service.actions.ready import Ready
from service.errors import BoughError, LimitReached
from service.web import examples
from service.web.blueprint import WITH_BODY, Blueprint, View
from service.web.bodies import parse_body, read_body, read_sent
from service.web.bulk import LARGE, answer_body, answer_table
from service.web.bulk_query import (
    BulkQuerySchema,
    NamedBulkQuerySchema,
    read_query,
    refuse_query,
)
from service.web.components import SELECTED_IN_PATH, ref
from service.web.context import context
from service.web.media import ARROW, CSV, JSON, NDJSON, TYPES, sent_form, wanted_form
from service.web.names import is_selected
from service.web.packing import LEAST, PACKED, VARY, is_liked, packed_pieces
from service.web.places import LARGE_BODY
from service.web.question import Limits, Question, read_question

PREDICT_ANSWER = "PredictAnswer"
BULK_SENT = {
    NDJSON: "A row a line, as in `rows`.",
    CSV: "A header with the names of attributes, then a record a row; an empty field is null.",
    ARROW: "An Arrow IPC stream of columns that have the names of attributes.",
}
FROM = {
    name: {
        "schema": {"type": "string"},
        "description": f"Where rows or answers are not JSON: {what}.",
    }
    for name, what in (
        ("Bough-Model", "the model that answers, percent-encoded"),
        ("Bough-Version", "the number of its version"),
    )
}
BULK_TOLD = {
    NDJSON: "A line a row, as in `predictions`; with `warnings` where a value is no category. "
    "After an error the last line is a problem.",
    CSV: "A record a row; what is nested has names joined by dots. `warnings` names the attributes "
    "whose value is no category.",
    ARROW: "The same columns as in CSV, in record batches.",
}

blp = Blueprint("predict", __name__, description="Predict rows, and explain predictions.")


@blp.after_request
def _fitted(response: Response) -> Response:
    """The response, packed where it is large and that is liked."""
    if VARY[0] in response.headers:  # in bulk, which sees to it itself
        return response
    response.headers.set(*VARY)
    pieces = [*response.iter_encoded()]
    is_large = sum(map(len, pieces)) >= LEAST
    if is_large and is_liked(request.headers.get("Accept-Encoding", "")):
        response.headers.pop("Content-Length", None)
        response.headers.set(*PACKED)
        response.response = packed_pieces(pieces)
    return response


def _content(descriptions: Mapping[str, str]) -> dict[str, Any]:
    """The forms that are not JSON, as the contract has them."""
    return {
        TYPES[form].partition(";")[0]: {
            "schema": {"type": "string", "format": "binary", "description": description}
        }
        for form, description in descriptions.items()
    }


def _hot(
    asked: str, example: dict[str, Any], answer: str, answered: dict[str, Any]
) -> Callable[[View], View]:
    """Documents a view that reads its body and writes its answer itself."""
    sent: dict[str, Any] = {"application/json": {"schema": ref(asked), "example": example}}
    told: dict[str, Any] = {"application/json": {"schema": ref(answer), "example": answered}}
    if answer == PREDICT_ANSWER:
        sent, told = sent | _content(BULK_SENT), told | _content(BULK_TOLD)

    def decorate(view: View) -> View:
        answers: dict[str, Any] = {"description": "One answer a row, in order.", "content": told}
        if answer == PREDICT_ANSWER:
            answers["headers"] = FROM
        documented: View = blp.documented(
            requestBody={"required": True, "content": sent}, responses={200: answers}
        )(view)
        failing: View = blp.fails(404, *WITH_BODY)(documented)
        return failing

    return decorate


@blp.route("/predict", methods=["POST"])
@blp.documented(parameters=[{"in": "query", "schema": BulkQuerySchema}])
@_hot("PredictRequest", examples.PREDICT, PREDICT_ANSWER, examples.PREDICTIONS)
def predict_rows() -> Response:
    """Predict rows with a model.

    At a split whose attribute is unknown the row goes down every branch, carrying weight; the
    answer is the weighted mean of the leaves, and says how sure it is of the path. `missing` asks
    for another way with nulls.

    Any number of rows are sent as NDJSON, CSV or an Arrow IPC stream; what they cannot say is
    said in the query, which is for them only. They are answered in the form that `Accept` names,
    or else in their own. NDJSON is answered while it still comes: an error after the first
    thousands of rows is then its last line, a problem. All forms may be gzipped, both ways.
    """
    return _predict(None)


@blp.route("/models/<name>/predict", methods=["POST"], parameters=[SELECTED_IN_PATH])
@blp.documented(parameters=[{"in": "query", "schema": NamedBulkQuerySchema}])
@_hot("ModelPredictRequest", examples.QUESTION, PREDICT_ANSWER, examples.PREDICTIONS)
def predict_rows_with_model(name: str) -> Response:
    """Predict rows with the model in the address."""
    return _predict(name)


@blp.route("/explain", methods=["POST"])
@_hot("ExplainRequest", examples.PREDICT, "ExplainAnswer", examples.EXPLANATIONS)
def explain_rows() -> Response:
    """Explain predictions: each with the weighted paths that it is the mean of."""
    settings = context().settings
    refuse_query(request.args)
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
    query, sent = read_query(name), sent_form()
    wanted = wanted_form(sent)
    if sent != JSON:
        return answer_body(query, name, sent, wanted)
    refuse_query(query)
    with context().places.moving(request.content_length or 0, LARGE):
        body = read_sent()
        if wanted == JSON:
            return _ask(body, name) or _answer_by_hand(parse_body(body), name)
        question = _question(parse_body(body), name)
        ready = context().memory.find(question.selection.selected)
        asked = Asked(ready, question.missing, question.is_strict)
        return answer_table(asked, question.table, wanted)


def _ask(body: bytes, name: str | None) -> Response | None:
    """The answer to a body that is ordinary, but was too large for the lane or gzipped."""
    settings, is_large = context().settings, len(body) > LARGE_BODY
    if not is_large and "Content-Encoding" not in request.headers:
        return None  # the lane has tried it
    pieces = ask_in_parts(body, name, _find, settings) if is_large else None
    if pieces is None:
        answer = ask(body, name, _find, settings)
        pieces = None if answer is None else [answer]
    return None if pieces is None else Response(pieces, mimetype="application/json")


def _find(selected: Selected) -> Ready | None:
    try:
        return context().memory.find(selected) if is_selected(selected[0]) else None
    except BoughError:
        return None  # whoever reads by hand will say what is wrong


def _answer_by_hand(body: Mapping[str, Any], name: str | None) -> Response:
    question = _question(body, name)
    loaded = _load(question)
    _check_size(question.table.n_rows, len(loaded.version.classes))
    answer = predict(loaded, question.table, question.missing, strict=question.is_strict)
    predictions = by_column(answer) if question.is_by_column else list(by_row(answer))
    return _answer(loaded, predictions=predictions, warnings=answer.strangers)


def _check_size(n_rows: int, n_classes: int) -> None:
    most = context().settings.max_answer_cells
    if n_rows * n_classes > most:
        raise LimitReached(
            f"The answers to {n_rows} rows would have more than {most} probabilities"
            " (BOUGH_MAX_ANSWER_CELLS); ask about fewer rows, or send them as NDJSON."
        )


def _question(body: Mapping[str, Any], name: str | None) -> Question:
    settings = context().settings
    limits = Limits(settings.max_predict_rows, settings.max_train_cells)
    return read_question(body, limits, name=name, also=frozenset({"layout"}))


def _load(question: Question) -> Loaded:
    return context().memory.find(question.selection.selected).loaded


def _answer(loaded: Loaded, **answers: Any) -> Response:
    version = loaded.version
    head = {"model": version.model, "version": version.number, "task": version.task}
    return jsonify(head | answers)
