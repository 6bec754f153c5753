"""POST /models/{name}/batch-predict: a dataset is scored as a job, and its result is streamed."""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, BinaryIO
from urllib.parse import quote

from flask import Response, request
from marshmallow import Schema, fields, validate

from service.actions import submit
from service.actions.request import source_of
from service.actions.score import ScoreRequest, check_score, write_score
from service.actions.select import fetch_selected, read_selection
from service.errors import Conflict, NotFound
from service.files.place import chunks_of, open_place
from service.storage import files, jobs
from service.storage.records import Job, JobKind, NewJob, StoredFile
from service.web.blueprint import WITH_BODY, Blueprint
from service.web.components import JOB_IN_PATH, SELECTED_IN_PATH
from service.web.context import context
from service.web.datasets import find_dataset
from service.web.fields import MOST, Text, Truth, Whole
from service.web.job_schemas import JobSchema
from service.web.jobs import accepted
from service.web.names import is_selected
from service.web.problems import NOTHING_HERE
from service.web.question import DEFAULT_STRATEGY, STRATEGY_NAMES
from service.web.schemas import about
from service.web.terms import (
    KEY_IN_HEADER,
    PRIORITIES,
    LimitsSchema,
    WebhookSchema,
    read_key,
    read_terms,
)

CHUNK = 256 * 1024
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "ndjson": "application/x-ndjson",
    "parquet": "application/vnd.apache.parquet",
}
FORMATS = list(MEDIA_TYPES)
CONTENT = {
    kind.partition(";")[0]: {"schema": {"type": "string", "format": "binary"}}
    for kind in MEDIA_TYPES.values()
}

blp = Blueprint("batch", __name__, description="Predict all rows of a dataset.")


class BatchSchema(Schema):
    """An order to score a dataset."""

    dataset = Text(required=True, metadata=about("Its id."))
    version = Whole(
        validate=validate.Range(min=1, max=MOST),
        metadata=about("A version number, where no alias is given."),
    )
    format = fields.String(
        load_default="csv", validate=validate.OneOf(FORMATS), metadata=about("Of the result.")
    )
    keep = fields.List(
        Text(),
        load_default=list,
        validate=validate.Length(max=1000),
        metadata=about("Columns of the dataset that the result repeats.", uniqueItems=True),
    )
    missing = fields.String(load_default=DEFAULT_STRATEGY, validate=validate.OneOf(STRATEGY_NAMES))
    strict = Truth(
        load_default=False,
        metadata=about("Whether categories and columns that are not as in training are errors."),
    )
    priority = Whole(load_default=0, validate=PRIORITIES, metadata=about("Higher ones first."))
    limits = fields.Nested(LimitsSchema, load_default=dict)
    webhook = fields.Nested(WebhookSchema)


@blp.route(
    "/models/<name>/batch-predict", methods=["POST"], parameters=[SELECTED_IN_PATH, KEY_IN_HEADER]
)
@blp.arguments(BatchSchema)
@blp.response(202, JobSchema, description="The job; its `result` link answers when it has ended.")
@blp.fails(404, *WITH_BODY)
def batch_predict(order: Mapping[str, Any], name: str) -> Any:
    """Predict all rows of a dataset, as a job.

    The version is chosen now: an alias that moves later changes nothing. Columns that the model
    does not know are passed over; those that the dataset does not have are null.
    """
    settings, key = context().settings, read_key()
    terms = read_terms(order, settings)
    if not is_selected(name):
        raise NotFound(NOTHING_HERE)
    dataset = find_dataset(order["dataset"], "/dataset")
    with context().store.reading() as session:
        version = fetch_selected(session, read_selection(name, order.get("version")))
    asked = ScoreRequest(
        source_of(dataset),
        dataset.first_line,
        order["format"],
        tuple(dict.fromkeys(order["keep"])),
        order["missing"],
        order["strict"],
    )
    check_score(asked, version, dataset)
    body = write_score(asked)
    if key is not None:
        # as it was asked for: the same order may mean another version by now
        asked_for = f"{name} {order.get('version')} ".encode()
        terms = submit.keyed(terms, key, asked_for + body)
    new = NewJob(version.model, body, JobKind.BATCH_PREDICT, dataset.id, version.number)
    with context().store.writing() as session:
        made = submit.submit(session, new, settings.max_attempts, terms)
    return accepted(made)


@blp.route("/jobs/<job_id>/result", parameters=[JOB_IN_PATH])
@blp.documented(responses={200: {"description": "The predictions.", "content": CONTENT}})
@blp.fails(404, 409)
def get_result(job_id: str) -> Response:
    """Get the predictions of a job, in the format that was ordered."""
    with context().store.reading() as session:
        job = jobs.fetch_job(session, job_id)
        if job.kind != JobKind.BATCH_PREDICT:
            raise NotFound(f"The job {job_id!r} trains: it makes a version, and no result.")
        if not job.has_result:
            raise Conflict(f"The job {job_id!r} is {job.state}: it has no result.")
        file = files.fetch_result(session, job_id)
    response = Response(content_type=MEDIA_TYPES[file.format])
    if request.method != "HEAD":
        _send(response, file)
    response.headers.update(_headers(job, file))
    return response


def _send(response: Response, file: StoredFile) -> None:
    """Have the response send a file; who does not read on is given up."""
    settings = context().settings
    with ExitStack() as stack:
        stack.enter_context(context().places.moving(file.n_bytes))
        opened = stack.enter_context(open_place(settings).open(file.name))
        held = stack.pop_all()
    response.response = _chunks(opened, held)
    response.call_on_close(held.close)


def _headers(job: Job, file: StoredFile) -> dict[str, str]:
    name = quote(f"{job.model}-{job.version}-{job.id[:8]}.{file.format}")
    return {
        "Content-Length": str(file.n_bytes),
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "ETag": f'"{file.checksum}"',
    }


def _chunks(opened: BinaryIO, held: ExitStack) -> Iterator[bytes]:
    with held:  # given back at the end, or when the response is closed before
        yield from chunks_of(opened, CHUNK)
