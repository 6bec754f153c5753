"""For whoever runs the service: is it alive, is it ready, which one is it."""

from typing import Any

from marshmallow import Schema, fields

from service import __version__
from service.errors import Unavailable
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

blp = Blueprint("operations", __name__, description="Health and version.")


class StatusSchema(Schema):
    """How the service is."""

    status = fields.String(required=True)


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
@blp.response(200, StatusSchema)
@blp.fails()
def readyz() -> Any:
    """Tell whether requests can be served: the database answers and its schema is current."""
    if not migrate.is_current(context().store):
        raise Unavailable("The schema of the database is not current; run `bough migrate`.")
    return {"status": "ready"}


@blp.route("/version")
@blp.response(200, ReleaseSchema)
@blp.fails()
def version() -> Any:
    """Get the release and the revision of its database."""
    revision = migrate.current(context().store)
    return {"name": "bough", "version": __version__, "schema": revision}
