"""The jobs: trainings that wait, run or have ended."""

from collections.abc import Callable, Mapping
from typing import Any

import orjson
from flask import Response, copy_current_request_context, current_app, request, url_for

from service.actions.submit import Submitted
from service.storage import jobs
from service.storage.records import UNDER_WAY, Job, JobState
from service.web.blueprint import Blueprint
from service.web.components import JOB_IN_PATH, ref
from service.web.context import IS_LEAVING, context
from service.web.cursor import read_page
from service.web.events import ENDED, HEADERS, MEDIA_TYPE, Watch, name_of, stream
from service.web.job_schemas import JobSchema, JobsQuerySchema
from service.web.schemas import page_of
from service.web.terms import REPLAYED

POLL = {"Retry-After": "1"}
POLL_HEADERS = {
    "Retry-After": {
        "schema": {"type": "integer"},
        "description": "Seconds to wait before asking again; absent once the job has ended.",
    }
}
LAST_SEEN = "Last-Event-ID"
LAST_SEEN_IN_HEADER = {
    "name": LAST_SEEN,
    "in": "header",
    "description": "The `id` of the last event that arrived; what it told is not told again.",
    "schema": {"type": "string"},
}
EVENT: dict[str, Any] = {
    "type": "object",
    "required": ["event", "id", "data"],
    "properties": {
        "event": {"type": "string", "enum": ["progress", ENDED]},
        "id": {"type": "string", "description": "Another for each state of the job."},
        "data": {
            "type": "string",
            "contentMediaType": "application/json",
            "contentSchema": ref("Job"),
        },
    },
}

blp = Blueprint("jobs", __name__, description="Watch and cancel trainings.")


@blp.route("/jobs")
@blp.arguments(JobsQuerySchema, location="query")
@blp.response(200, page_of(JobSchema))
@blp.fails(422)
def list_jobs(query: Mapping[str, Any]) -> Any:
    """List jobs, the newest first."""
    state = JobState(query["state"]) if "state" in query else None
    with context().store.reading() as session:
        page = read_page(
            lambda after: jobs.list_jobs(
                session, model=query.get("model"), state=state, after=after, limit=query["limit"]
            ),
            "jobs",
            query.get("cursor"),
        )
    return page | {"items": [told(job) for job in page["items"]]}


@blp.route("/jobs/<job_id>", parameters=[JOB_IN_PATH])
@blp.response(200, JobSchema, headers=POLL_HEADERS)
@blp.fails(404)
def get_job(job_id: str) -> Any:
    """Get a job: its state, its progress, and its error or the version it made."""
    with context().store.reading() as session:
        job = jobs.fetch_job(session, job_id)
    return told(job), POLL if job.state in UNDER_WAY else {}


@blp.route("/jobs/<job_id>/events", parameters=[JOB_IN_PATH, LAST_SEEN_IN_HEADER])
@blp.response(200, EVENT, content_type=MEDIA_TYPE, description="The events, each of this form.")
@blp.alt_response(204, description="The end has been seen; nothing follows.", success=True)
@blp.fails(404)
def watch_job(job_id: str) -> Any:
    """Watch a job by server-sent events.

    The job is told as it is, and again whenever it has changed: as `progress` until it has ended,
    then once as `ended`. A stream is closed after half a minute at the latest, or at once where
    too many watch: come again after a second with `Last-Event-ID`, as browsers do by themselves.
    """
    store, seen = context().store, request.headers.get(LAST_SEEN)

    def fetch() -> Job:
        with store.reading() as session:
            return jobs.fetch_job(session, job_id)

    job = fetch()
    if seen == name_of(job) == ENDED:
        return Response(status=204)
    connection = request.environ.get("gunicorn.socket")
    is_leaving = current_app.config[IS_LEAVING]
    watch = Watch(fetch, _writer(), context().places, connection, is_leaving)
    return Response(stream(watch, job, seen), mimetype=MEDIA_TYPE, headers=HEADERS)


def _writer() -> Callable[[Job], bytes]:
    """What writes a job also when this request has been answered, which its links depend on."""
    schema = JobSchema()
    return copy_current_request_context(lambda job: orjson.dumps(schema.dump(told(job))))


@blp.route("/jobs/<job_id>/cancel", methods=["POST"], parameters=[JOB_IN_PATH])
@blp.response(200, JobSchema, description="It waited, and is cancelled.")
@blp.alt_response(
    202,
    schema=JobSchema,
    description="It runs; its worker was told to stop.",
    headers=POLL_HEADERS,
    success=True,
)
@blp.fails(404, 409)
def cancel_job(job_id: str) -> Any:
    """Cancel a job that has not ended."""
    with context().store.writing() as session:
        job = jobs.cancel(session, job_id)
    if job.state in UNDER_WAY:
        return told(job), 202, POLL
    return told(job)


def accepted(made: Submitted) -> tuple[dict[str, Any], int, dict[str, str]]:
    """The answer to an order that has become a job, now or before."""
    headers = {"Location": url_for("jobs.get_job", job_id=made.job.id), **POLL}
    return told(made.job), 202, headers | ({REPLAYED: "true"} if made.is_replay else {})


def told(job: Job) -> dict[str, Any]:
    """The job with the addresses to go on from."""
    links = {"self": url_for("jobs.get_job", job_id=job.id)}
    if job.version is not None:
        links["version"] = url_for("models.get_version", name=job.model, version=job.version)
    if job.has_result:
        links["result"] = url_for("batch.get_result", job_id=job.id)
    return vars(job) | {"links": links}
