"""Aliases: names for versions, to promote and to roll back."""

from collections.abc import Mapping
from typing import Any

from flask import Response

from service.errors import Fault, NotFound
from service.storage import aliases, models
from service.web.blueprint import WITH_BODY, Blueprint
from service.web.components import ALIAS_IN_PATH, MODEL_IN_PATH
from service.web.context import context
from service.web.names import ALIAS_RULE, is_alias
from service.web.problems import InvalidParameters
from service.web.schemas import AliasMoveSchema, AliasSchema, PutAliasSchema, page_of

ALIAS = "/models/<name>/aliases/<alias>"
IN_PATH = [MODEL_IN_PATH, ALIAS_IN_PATH]

blp = Blueprint("aliases", __name__, description="Promote versions and roll them back.")


@blp.route(ALIAS, methods=["GET"], parameters=IN_PATH)
@blp.response(200, AliasSchema)
@blp.fails(404)
def get_alias(name: str, alias: str) -> Any:
    """Get the version that an alias names."""
    with context().store.reading() as session:
        model = models.fetch_model(session, name)
    if alias not in model.aliases:
        raise NotFound(f"The model {name!r} has no alias {alias!r}.")
    return {"model": name, "alias": alias, "version": model.aliases[alias]}


@blp.route(ALIAS, methods=["PUT"], parameters=IN_PATH)
@blp.arguments(PutAliasSchema, example={"version": 3})
@blp.response(200, AliasSchema, description="The alias names this version now.")
@blp.alt_response(201, schema=AliasSchema, description="The alias is new.", success=True)
@blp.fails(404, *WITH_BODY)
def put_alias(target: Mapping[str, int], name: str, alias: str) -> Any:
    """Let an alias name a version: promote, or roll back."""
    if not is_alias(alias):
        raise InvalidParameters(f"alias {ALIAS_RULE}", [Fault("alias", ALIAS_RULE)])
    with context().store.writing() as session:
        is_new = aliases.put_alias(session, name, alias, target["version"])
    context().memory.names.forget(name)  # whoever asks here next need not wait for a second
    return {"model": name, "alias": alias, **target}, 201 if is_new else 200


@blp.route(ALIAS, methods=["DELETE"], parameters=IN_PATH)
@blp.response(204, description="The alias is gone; its history stays.")
@blp.fails(404)
def delete_alias(name: str, alias: str) -> Response:
    """Remove an alias."""
    with context().store.writing() as session:
        aliases.delete_alias(session, name, alias)
    context().memory.names.forget(name)
    return Response(status=204)


@blp.route(f"{ALIAS}/history", parameters=IN_PATH)
@blp.response(200, page_of(AliasMoveSchema))
@blp.fails(404)
def list_alias_moves(name: str, alias: str) -> Any:
    """List the moves of an alias, the newest first."""
    with context().store.reading() as session:
        return {"items": aliases.alias_history(session, name, alias)}
