"""Blueprints whose views are read strictly and documented with the problems they may answer."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NoReturn, TypeVar

import flask_smorest
from flask import Request
from flask_smorest.utils import deepupdate
from marshmallow import RAISE, Schema, ValidationError, fields
from webargs.flaskparser import FlaskParser
from webargs.multidictproxy import MultiDictProxy

from service.errors import Fault, InvalidData, pointer
from service.tree.encode import MOST_FAULTS
from service.web.bodies import read_body
from service.web.fields import UNKNOWN, unknown_field
from service.web.problems import InvalidParameters

View = TypeVar("View", bound=Callable[..., Any])
ALWAYS = (500, 503)
WITH_BODY = (400, 413, 415, 422)


class Parser(FlaskParser):
    """Reads bodies as strict JSON; what does not fit a schema is raised as faults."""

    DEFAULT_UNKNOWN_BY_LOCATION: dict[str, str | None] = {"json": RAISE, "query": RAISE}  # noqa: RUF012

    def load_json(self, req: Request, schema: Schema) -> Any:  # noqa: ARG002
        """The body of the request."""
        return read_body()

    def load_querystring(self, req: Request, schema: Schema) -> Any:
        """The parameters of the query; each may be given once."""
        faults = [
            Fault(name, "is given more than once")
            for name, values in req.args.lists()
            if len(values) > 1
        ]
        if faults:
            raise InvalidParameters("Some parameters are given more than once.", faults)
        return MultiDictProxy(req.args, schema)

    def handle_error(
        self,
        error: ValidationError,
        req: Request,  # noqa: ARG002
        schema: Schema,
        **_kwargs: Any,
    ) -> NoReturn:
        """Raises the faults that the error tells of."""
        messages: dict[str, Any] = error.messages  # type: ignore[assignment]
        ((place, found),) = messages.items()
        told = [
            (at, _with_hint(schema, at, detail)) for at, detail in islice(_flat(found), MOST_FAULTS)
        ]
        if place == "json":
            faults = [Fault(pointer(*at), detail) for at, detail in told]
            raise InvalidData("Some fields cannot be used.", faults)
        faults = [Fault(str(at[0]), detail) for at, detail in told]
        raise InvalidParameters("Some parameters cannot be used.", faults)


def _with_hint(schema: Schema, at: Sequence[str | int], detail: str) -> str:
    """A message; where a field is unknown with the one that may be meant."""
    if detail != UNKNOWN:
        return detail
    return unknown_field(str(at[-1]), _fields_at(schema, at[:-1]))


def _fields_at(schema: Schema, at: Sequence[str | int]) -> Iterable[str]:
    """The fields of the object that keys lead to; none if that is not known."""
    field: Any = fields.Nested(schema)
    for key in at:
        if isinstance(field, fields.List):
            field = field.inner
        elif isinstance(field, fields.Nested):
            field = field.schema.load_fields.get(str(key))
    return field.schema.load_fields if isinstance(field, fields.Nested) else ()


def _flat(messages: Any, *at: str | int) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Each message with the keys that lead to it."""
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            yield from _flat(inner, *at, *(() if key == "_schema" else (key,)))
    else:
        yield from ((at, str(message)) for message in messages)


class Blueprint(flask_smorest.Blueprint):
    """A group of views."""

    ARGUMENTS_PARSER = Parser()

    def documented(self, **doc: Any) -> Callable[[View], View]:
        """Adds to what the contract says of a view; costs nothing when it is called."""

        def decorate(view: View) -> View:
            known: dict[str, Any] = vars(view).setdefault("_apidoc", {})
            known["manual_doc"] = deepupdate(known.get("manual_doc", {}), doc)
            return view

        return decorate

    def fails(self, *statuses: int) -> Callable[[View], View]:
        """Says which problems a view may answer, beside those that any may."""
        return self.documented(
            responses={each: f"Problem{each}" for each in sorted({*statuses, *ALWAYS})}
        )

    def _store_endpoint_docs(self, endpoint: str, obj: Any, *args: Any, **options: Any) -> None:
        self.documented(operationId=endpoint)(obj)
        super()._store_endpoint_docs(endpoint, obj, *args, **options)
