"""The jobs: trainings that wait, run or have ended."""

from collections.abc import Mapping
from typing import Any

from flask import url_for

from service.storage import jobs
from service.storage.records import Job, JobState
from service.web.blueprint import Blueprint
from service.web.components import JOB_IN_PATH
from service.web.context import context
from service.web.cursor import read_page
from service.web.schemas import JobSchema, JobsQuerySchema, page_of

POLL = {"Retry-After": "1"}
POLL_HEADERS = {
    "Retry-After": {
        "schema": {"type": "integer"},
        "description": "Seconds to wait before asking again; absent once the job has ended.",
    }
}
UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)

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


def told(job: Job) -> dict[str, Any]:
    """The job with the addresses to go on from."""
    links = {"self": url_for("jobs.get_job", job_id=job.id)}
    if job.version is not None:
        links["version"] = url_for("models.get_version", name=job.model, version=job.version)
    return vars(job) | {"links": links}
