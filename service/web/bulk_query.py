"""What the address says of rows in bulk, whose forms have no room for it."""

from collections.abc import Iterator, Mapping
from typing import Any

from flask import request
from marshmallow import fields, validate

from service.actions.bulk import Asked
from service.errors import Fault
from service.files.records import Ingestion
from service.settings import Settings
from service.web.blueprint import Parser
from service.web.context import context
from service.web.dataset_schemas import CsvQuerySchema
from service.web.fields import MOST, Digits, Flag
from service.web.media import TAB_SEPARATED
from service.web.names import SELECTED, SELECTED_RULE, is_selected
from service.web.problems import InvalidParameters
from service.web.question import DEFAULT_STRATEGY, STRATEGY_NAMES
from service.web.schemas import about

PARSER = Parser()
FOR_CSV = ("delimiter", "decimal", "nulls")


class BulkQuerySchema(CsvQuerySchema):
    """What a body that is not JSON cannot say itself."""

    model = fields.String(
        metadata=about(
            "`name` or `name@alias`, where the address does not name it.", pattern=SELECTED
        ),
    )
    version = Digits(
        validate=validate.Range(min=1, max=MOST),
        metadata=about("A version number, where no alias is given."),
    )
    missing = fields.String(
        validate=validate.OneOf(STRATEGY_NAMES),
        metadata=about("What becomes of a row that does not know.", default=DEFAULT_STRATEGY),
    )
    strict = Flag(metadata=about("Whether a category never declared is an error.", default=False))


class NamedBulkQuerySchema(BulkQuerySchema):
    """The same where the address names the model."""

    class Meta:
        """Without the model."""

        exclude = ("model",)


def read_query(name: str | None) -> Mapping[str, Any]:
    """The query of this request, whose address may name a model."""
    tabs = {"delimiter": "\t"} if request.mimetype == TAB_SEPARATED else {}
    if not request.query_string:  # as mostly; it takes its time to find that out by a schema
        return tabs
    schema = BulkQuerySchema() if name is None else NamedBulkQuerySchema()
    query: Mapping[str, Any] = PARSER.parse(schema, request, location="query")
    return {**tabs, **query}


def refuse_query(query: Mapping[str, Any]) -> None:
    """InvalidParameters if there are any: JSON says all of this in its body."""
    _refuse(Fault(name, "a JSON body says all of this itself") for name in query)


def read_asked(query: Mapping[str, Any], name: str | None) -> Asked:
    """Whom the rows are put to, and how; the model is in the query if it is not given here."""
    _refuse(_misfits(query, name))
    selected = name or query["model"], query.get("version")
    return Asked(
        ready=context().memory.find(selected),
        missing=query.get("missing", DEFAULT_STRATEGY),
        is_strict=query.get("strict", False),
    )


def _misfits(query: Mapping[str, Any], name: str | None) -> Iterator[Fault]:
    model = name or query.get("model", "")
    if name is None and not is_selected(model):
        yield Fault("model", f"{SELECTED_RULE}, where the address does not name it")
    if "@" in model and "version" in query:
        yield Fault("version", f"{model!r} names an alias, so no version can be given beside it")


def _refuse(faults: Iterator[Fault]) -> None:
    found = list(faults)
    if found:
        raise InvalidParameters("Some parameters cannot be used.", found)


def order_of(query: Mapping[str, Any], settings: Settings) -> Ingestion:
    """How the body is to be read."""
    return Ingestion(
        **{name: query[name] for name in FOR_CSV if name in query},
        max_bytes=settings.max_body_bytes,  # of a part, as of a record batch
        max_cells=settings.max_dataset_cells,
        max_columns=settings.max_dataset_columns,
    )
