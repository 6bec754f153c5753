"""The kinds of jobs: what the child of each runs, and how its result is kept."""

from collections.abc import Callable
from functools import partial

from service.actions.load import load_at
from service.actions.results import Scored, Trained
from service.actions.score import read_score
from service.files.place import open_place
from service.files.results import WRITERS
from service.jobs.child import Entry, run_action
from service.points import passing
from service.settings import Settings
from service.storage import files, jobs
from service.storage.engine import Session, Store
from service.storage.records import Claim, JobKind, Progress
from service.storage.versions import fetch_version, save_version

TRAIN, SCORE = "service.actions.train:train", "service.actions.scoring:score"


def to_train(_store: Store, settings: Settings, _claim: Claim, _body: bytes) -> Entry:
    """What trains."""
    return partial(run_action, TRAIN, place=open_place(settings))


def to_score(store: Store, settings: Settings, claim: Claim, body: bytes) -> Entry:
    """What scores a dataset with a version; the file that it will write is announced."""
    request = read_score(body)
    name = _name(claim, request.format)
    with store.writing() as session:
        files.announce(session, name, request.format, claim)
    with store.reading() as session:
        version = fetch_version(session, claim.model, claim.version)
        loaded = load_at(session, version, version.alpha)
    return partial(run_action, SCORE, loaded=loaded, place=open_place(settings), name=name)


def abandon(settings: Settings, claim: Claim) -> None:
    """Remove what a job has written that is no longer ours: nobody else may know of it by now."""
    if claim.kind == JobKind.BATCH_PREDICT:
        place = open_place(settings)
        for format_ in WRITERS:
            place.remove(_name(claim, format_))


def _name(claim: Claim, format_: str) -> str:
    return f"{claim.job_id}-{claim.token}.{format_}"


PREPARE: dict[JobKind, Callable[[Store, Settings, Claim, bytes], Entry]] = {
    JobKind.TRAIN: to_train,
    JobKind.BATCH_PREDICT: to_score,
}


def saving(result: Trained | Scored) -> Progress:
    """How far a job is whose result is about to be kept."""
    if isinstance(result, Scored):
        return Progress(1.0, "save", 0, result.n_rows)
    return Progress(1.0, "save", len(result.tree), result.draft.n_rows)


def save(session: Session, claim: Claim, result: Trained | Scored) -> None:
    """Keep the result and end the job in one transaction: all of it or nothing."""
    if isinstance(result, Scored):
        jobs.finish(session, claim, claim.version, result.warnings)
        files.settle(session, result.file)
    else:
        number = save_version(session, claim.job_id, result.draft, result.tree)
        passing("worker-saved")
        jobs.finish(session, claim, number, result.warnings)
    passing("worker-finished")
