"""For whoever runs the service: is it alive, is it ready, which one is it."""

from collections.abc import Sequence
from typing import Any

from marshmallow import Schema, fields

from service import __version__
from service.actions.keep_warm import Cold
from service.errors import NotReady, Unavailable
from service.storage import migrate
from service.web.blueprint import Blueprint
from service.web.context import context

ADDRESSES = {
    "documentation": "/docs",
    "contract": "/openapi.yaml",
    "models": "/models",
    "jobs": "/jobs",
    "datasets": "/datasets",
    "train": "/train",
    "predict": "/predict",
    "explain": "/explain",
    "version": "/version",
}
MOST_TOLD = 10  # versions in a sentence

blp = Blueprint("operations", __name__, description="Health and version.")


class StatusSchema(Schema):
    """How the service is."""

    status = fields.String(required=True)


class ColdSchema(Schema):
    """A version of a warm model that is not in memory."""

    model = fields.String(required=True)
    version = fields.Integer(required=True)
    detail = fields.String(required=True, metadata={"description": "Why it is not."})


class ReadySchema(StatusSchema):
    """That the service is ready, and which warm models it did not wait for."""

    cold = fields.List(fields.Nested(ColdSchema), required=True)


class ReleaseSchema(Schema):
    """Which service this is."""

    name = fields.String(required=True)
    version = fields.String(required=True)
    schema = fields.String(
        required=True,
        allow_none=True,
        metadata={"description": "The revision of the database; null while it is empty."},
    )


class IndexSchema(Schema):
    """Where to go on from here."""

    name = fields.String(required=True)
    links = fields.Dict(keys=fields.String(), values=fields.String(), required=True)


@blp.route("/")
@blp.response(200, IndexSchema)
@blp.fails()
def index() -> Any:
    """Get the addresses to begin with."""
    return {"name": "bough", "links": ADDRESSES}


@blp.route("/livez")
@blp.response(200, StatusSchema)
@blp.fails()
def livez() -> Any:
    """Tell whether the process answers."""
    return {"status": "alive"}


@blp.route("/readyz")
@blp.response(200, ReadySchema)
@blp.fails()
def readyz() -> Any:
    """Tell whether requests can be served.

    That is so when the database answers, its schema is current, and the models marked warm are in
    memory. One that cannot be loaded, or has no room there, is not waited for: `cold` names it.
    """
    if not migrate.is_current(context().store):
        raise Unavailable("The schema of the database is not current; run `bough migrate`.")
    warmth = context().warmth
    if warmth.is_awaited:
        raise NotReady(f"Warm models are being loaded: {_told(warmth.cold)}.")
    return {"status": "ready", "cold": warmth.cold}


def _told(cold: Sequence[Cold]) -> str:
    """Some of the versions that are not in memory, in words."""
    names = [f"version {each.version} of {each.model!r}" for each in cold[:MOST_TOLD]]
    more = [f"{len(cold) - MOST_TOLD} more"] if len(cold) > MOST_TOLD else []
    return ", ".join([*names, *more]) or "which ones, is being asked"


@blp.route("/version")
@blp.response(200, ReleaseSchema)
@blp.fails()
def version() -> Any:
    """Get the release and the revision of its database."""
    revision = migrate.current(context().store)
    return {"name": "bough", "version": __version__, "schema": revision}
