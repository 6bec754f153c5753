"""The catalogue: models, their versions, and the trees of these."""

from collections.abc import Mapping
from typing import Any

from flask import Response, jsonify, request

from service.actions.catalogue import nested_tree
from service.actions.load import load_at
from service.actions.select import Selection
from service.errors import Fault
from service.storage import models, node_pages, versions
from service.storage.records import Version
from service.web.blueprint import WITH_BODY, Blueprint, View
from service.web.components import MODEL_IN_PATH, VERSION_IN_PATH
from service.web.context import context
from service.web.cursor import read_page
from service.web.fields import MOST
from service.web.problems import InvalidParameters
from service.web.schemas import (
    ModelSchema,
    ModelsQuerySchema,
    NodeSchema,
    NodesQuerySchema,
    PageQuerySchema,
    PatchModelSchema,
    TreeQuerySchema,
    VersionSchema,
    page_of,
)

VERSION = f"/models/<name>/versions/<int(min=1, max={MOST}):version>"
ETAG = {"ETag": {"schema": {"type": "string"}, "description": "Changes with the answer."}}
IF_NONE_MATCH = {
    "in": "header",
    "name": "If-None-Match",
    "description": "The ETag of an answer that is at hand; if it is still right, 304 comes back.",
    "schema": {"type": "string"},
}

blp = Blueprint("models", __name__, description="Look at models, versions and trees.")


def _has_etag(view: View) -> View:
    documented: View = blp.documented(
        parameters=[IF_NONE_MATCH],
        responses={200: {"headers": ETAG}, 304: {"description": "It has not changed."}},
    )(view)
    return documented


def _conditional(told: Any) -> Response:
    """The answer with its ETag, or 304 if whoever asks has it already."""
    response = jsonify(told)
    response.add_etag()
    response.make_conditional(request)
    return response


@blp.route("/models")
@blp.arguments(ModelsQuerySchema, location="query")
@blp.response(200, page_of(ModelSchema))
@blp.fails(422)
def list_models(query: Mapping[str, Any]) -> Any:
    """List models."""
    order = query["order_by"]
    with context().store.reading() as session:
        return read_page(
            lambda after: models.list_models(
                session,
                name_contains=query.get("name"),
                task=query.get("task"),
                order_by=order,
                after=after,
                limit=query["limit"],
            ),
            f"models by {order}",
            query.get("cursor"),
        )


@blp.route("/models/<name>", parameters=[MODEL_IN_PATH])
@_has_etag
@blp.response(200, ModelSchema)
@blp.fails(404)
def get_model(name: str) -> Any:
    """Get a model."""
    with context().store.reading() as session:
        return _conditional(ModelSchema().dump(models.fetch_model(session, name)))


@blp.route("/models/<name>", methods=["PATCH"], parameters=[MODEL_IN_PATH])
@blp.arguments(PatchModelSchema, example={"warm": True})
@blp.response(200, ModelSchema)
@blp.fails(404, *WITH_BODY)
def patch_model(changes: Mapping[str, bool], name: str) -> Any:
    """Change a model: have it loaded by web processes before they are ready, or no longer.

    Of a warm model each web process loads the newest version and those with aliases; a process
    that runs does so within about a second.
    """
    with context().store.writing() as session:
        if "warm" in changes:
            models.set_warm(session, name, warm=changes["warm"])
        return models.fetch_model(session, name)


@blp.route("/models/<name>/versions", parameters=[MODEL_IN_PATH])
@blp.arguments(PageQuerySchema, location="query")
@blp.response(200, page_of(VersionSchema))
@blp.fails(404, 422)
def list_versions(query: Mapping[str, Any], name: str) -> Any:
    """List the versions of a model, the newest first."""
    with context().store.reading() as session:
        return read_page(
            lambda after: versions.list_versions(session, name, after, query["limit"]),
            f"versions of {name}",
            query.get("cursor"),
        )


@blp.route(VERSION, parameters=[MODEL_IN_PATH, VERSION_IN_PATH])
@_has_etag
@blp.response(200, VersionSchema)
@blp.fails(404)
def get_version(name: str, version: int) -> Any:
    """Get a version: what it was trained on, how, and what came of it."""
    with context().store.reading() as session:
        return _conditional(VersionSchema().dump(versions.fetch_version(session, name, version)))


@blp.route(f"{VERSION}/nodes", parameters=[MODEL_IN_PATH, VERSION_IN_PATH])
@blp.arguments(NodesQuerySchema, location="query")
@blp.response(200, page_of(NodeSchema))
@blp.fails(404, 422)
def list_nodes(query: Mapping[str, Any], name: str, version: int) -> Any:
    """List the node rows of a version, parents before their children.

    They are those of the tree that is served, or with `alpha` of another one of its sequence.
    """
    with context().store.reading() as session:
        found = versions.fetch_version(session, name, version)
        alpha = _alpha(found, query)
        page = read_page(
            lambda after: node_pages.node_page(session, found, alpha, after, query["limit"]),
            f"nodes of {found.id} at {alpha}",
            query.get("cursor"),
        )
    return jsonify(page)  # the records are what the schema says: no need to dump 10,000 of them


@blp.route(f"{VERSION}/tree", parameters=[MODEL_IN_PATH, VERSION_IN_PATH])
@blp.arguments(TreeQuerySchema, location="query")
@blp.response(200, "TreeNode")
@blp.fails(404, 422)
def get_tree(query: Mapping[str, Any], name: str, version: int) -> Any:
    """Get the tree of a version as nested objects.

    `node` is where to start and `depth` how many levels to tell; a node whose children were left
    out says `truncated`. `alpha` asks for another tree of a cost-complexity sequence; the numbers
    of the nodes are the same in all of them.
    """
    with context().store.reading() as session:
        if "alpha" in query:
            found = versions.fetch_version(session, name, version)
            loaded = load_at(session, found, _alpha(found, query))
        else:
            loaded = context().memory.load(session, Selection(name, version))
    return jsonify(nested_tree(loaded, query["node"], query["depth"]))


def _alpha(version: Version, query: Mapping[str, Any]) -> float | None:
    """The alpha that is asked for, or that at which the version is served."""
    if "alpha" not in query:
        return version.alpha
    if version.alpha is None:
        detail = "this version has no cost-complexity sequence, so there is no other tree"
        raise InvalidParameters(f"alpha: {detail}", [Fault("alpha", detail)])
    asked: float = query["alpha"]
    return asked
