"""POST /train: the order is read and checked in full, then it is a job."""

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from flask import Response, jsonify

from service.actions import submit
from service.actions.request import TrainRequest
from service.points import passing
from service.storage.records import NewJob, StoredDataset
from service.tree.target import CLASSIFICATION, REGRESSION
from service.web import examples
from service.web.blueprint import WITH_BODY, Blueprint
from service.web.context import context
from service.web.datasets import find_dataset
from service.web.job_schemas import JobSchema
from service.web.jobs import accepted
from service.web.order import read_order
from service.web.terms import KEY_IN_HEADER, REPLAYED, read_key, read_terms
from service.web.train_schemas import PreviewSchema, TrainQuerySchema, TrainSchema

blp = Blueprint("train", __name__, description="Train a tree.")


@blp.route("/train", methods=["POST"], parameters=[KEY_IN_HEADER])
@blp.arguments(TrainSchema, example=examples.TRAIN)
@blp.arguments(TrainQuerySchema, location="query")
@blp.response(
    202,
    JobSchema,
    description="The job; ask for it until it has ended.",
    headers={
        "Location": {"schema": {"type": "string"}, "description": "The address of the job."},
        "Retry-After": {"schema": {"type": "integer"}, "description": "Seconds until then."},
        REPLAYED: {"schema": {"const": "true"}, "description": "The key had made this job before."},
    },
)
@blp.alt_response(200, schema=PreviewSchema, description="What would be trained.", success=True)
@blp.fails(*WITH_BODY)
def train(order: Mapping[str, Any], query: Mapping[str, Any]) -> Any:
    """Train a tree.

    All that can be checked is checked before the answer; the training itself is a job. With
    `validate_only` nothing is written, and what would be trained is answered instead.
    """
    settings, key = context().settings, read_key()
    terms = read_terms(order, settings)
    dataset = _dataset(order["data"])
    request = read_order(order, settings.max_train_cells, dataset)
    if query["validate_only"]:
        return _preview(request, dataset)
    body = submit.check(request, dataset)
    if key is not None:
        terms = submit.keyed(terms, key, body)
    new = NewJob(request.model, body, dataset=dataset.id if dataset else None)
    passing("web-checked")
    with context().store.writing() as session:
        made = submit.submit(session, new, settings.max_attempts, terms)
        passing("web-placed")
    passing("web-committed")
    return accepted(made)


def _dataset(data: Mapping[str, Any]) -> StoredDataset | None:
    """The dataset that an order names instead of sending rows."""
    if not isinstance(data.get("dataset"), str):
        return None
    return find_dataset(data["dataset"], "/data/dataset")


def _preview(request: TrainRequest, dataset: StoredDataset | None) -> Response:
    told, warnings = submit.preview(request, dataset)
    preview = {
        "valid": True,
        "model": request.model,
        "task": REGRESSION if told.is_regression else CLASSIFICATION,
        "attributes": told.attributes,
        "classes": told.classes,
        "params": {"preset": request.preset} | asdict(request.params),
        "rows": told.n_rows,
        "warnings": warnings,
    }
    return jsonify(PreviewSchema().dump(preview))
