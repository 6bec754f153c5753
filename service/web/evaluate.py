"""POST .../evaluate: how well a version predicts rows whose target is known."""

from flask import Response, jsonify

from service.actions.evaluate import evaluate
from service.actions.select import Selection
from service.errors import Fault, InvalidData
from service.tree.encode import MOST_FAULTS
from service.web import examples
from service.web.blueprint import WITH_BODY, Blueprint
from service.web.bodies import read_body
from service.web.components import MODEL_IN_PATH, VERSION_IN_PATH, ref
from service.web.context import context
from service.web.models import VERSION
from service.web.question import Limits, read_table, table_faults, unknown_fields

FIELDS = frozenset({"rows", "columns", "weight"})
SENT = {"application/json": {"schema": ref("EvaluateRequest"), "example": examples.EVALUATE}}
TOLD = {"application/json": {"schema": ref("EvaluateAnswer"), "example": examples.EVALUATION}}

blp = Blueprint("evaluate", __name__, description="Measure versions on new data.")


@blp.route(f"{VERSION}/evaluate", methods=["POST"], parameters=[MODEL_IN_PATH, VERSION_IN_PATH])
@blp.documented(
    requestBody={"required": True, "content": SENT},
    responses={200: {"description": "The metrics on these rows.", "content": TOLD}},
)
@blp.fails(404, *WITH_BODY)
def evaluate_version(name: str, version: int) -> Response:
    """Evaluate a version on rows that have the target: accuracy or error, calibration, AUC."""
    most = context().settings.max_train_cells
    body = read_body()
    faults = [*unknown_fields(body, FIELDS), *table_faults(body)]
    if not isinstance(body.get("weight", ""), str):
        faults.append(Fault("/weight", "must be the name of a column"))
    if faults:
        raise InvalidData("Some fields cannot be used.", faults[:MOST_FAULTS])
    table = read_table(body, Limits(most, most))
    with context().store.reading() as session:
        loaded = context().memory.load(session, Selection(name, version))
    metrics, strangers = evaluate(loaded, table, body.get("weight"))
    head = {"model": name, "version": version, "task": loaded.version.task}
    return jsonify(head | {"metrics": metrics, "warnings": strangers})
