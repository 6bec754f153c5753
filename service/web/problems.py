"""Errors as problems (RFC 9457): the one table that knows which error is which status."""

import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import quote

import orjson
from flask import Flask, Response, g, request
from werkzeug import Response as AnyResponse
from werkzeug.exceptions import HTTPException

from service.errors import (
    BoughError,
    Conflict,
    Fault,
    InvalidData,
    InvalidFile,
    KeyReused,
    LimitReached,
    NotFound,
    NotReady,
    Unavailable,
)

MEDIA_TYPE = "application/problem+json"
RETRY_SECONDS = "1"
NOTHING_HERE = "There is nothing at this address."

log = logging.getLogger(__name__)


class InvalidParameters(InvalidData):
    """Parameters of the query or the path cannot be used; the faults name them, not pointers."""


@dataclass(frozen=True)
class Kind:
    """What a kind of error is to whoever called."""

    status: int
    slug: str
    title: str


KINDS: dict[type[BoughError], Kind] = {
    InvalidParameters: Kind(422, "invalid-parameters", "Parameters cannot be used"),
    InvalidData: Kind(422, "invalid-data", "The data cannot be used"),
    InvalidFile: Kind(422, "invalid-file", "The file cannot be used"),
    LimitReached: Kind(422, "limit-reached", "A limit is reached"),
    KeyReused: Kind(422, "idempotency-key-reused", "The key belongs to another order"),
    NotFound: Kind(404, "not-found", "Not found"),
    Conflict: Kind(409, "conflict", "The state does not allow this"),
    Unavailable: Kind(503, "unavailable", "Not available at the moment"),
}
BROKEN = Kind(500, "internal-error", "Something broke")
# Every status that may be answered as a problem, for the contract.
DESCRIPTIONS = {
    400: "The body cannot be read: it is not JSON, or its gzip stream is damaged.",
    404: "There is no such thing.",
    405: "The method is not allowed here.",
    409: "The state of the thing does not allow this.",
    413: "The body is too large.",
    415: "The body is not declared as JSON in UTF-8, or as what else is taken here.",
    422: "What was sent cannot be used; `errors` says where and why.",
    500: "Something broke; the log has more under the request id.",
    503: "The database does not answer, or too many large bodies are on their way; try again.",
}


def handle_errors(app: Flask) -> None:
    """Make every error of the app a problem."""
    app.register_error_handler(HTTPException, _from_http)
    app.register_error_handler(BoughError, _from_domain)
    app.register_error_handler(Exception, _from_anything)


def problem_of(error: Exception) -> bytes:
    """The problem that an error is, as JSON, for an answer that has begun."""
    match error:
        case HTTPException():
            return _from_http(error).get_data()
        case BoughError():
            return _from_domain(error).get_data()
        case _:
            return _from_anything(error).get_data()


def _from_domain(error: BoughError) -> AnyResponse:
    kind = next((KINDS[each] for each in type(error).__mro__ if each in KINDS), None)
    if kind is None:
        return _from_anything(error)
    response = _respond(Response(status=kind.status), kind, str(error), _told(error))
    if kind.status == 503:
        _tell_unavailable(error)
        response.headers["Retry-After"] = RETRY_SECONDS
    return response


def _tell_unavailable(error: BoughError) -> None:
    if isinstance(error, NotReady):
        log.info("not ready", extra={"request_id": g.request_id})
    else:
        log.warning("unavailable", extra={"request_id": g.request_id}, exc_info=error)


def _from_http(error: HTTPException) -> AnyResponse:
    response = error.get_response()  # carries what belongs to the error, such as Allow
    status = response.status_code
    if status < 400:
        return response
    if status == 404:
        return _respond(response, KINDS[NotFound], NOTHING_HERE, [])
    kind = Kind(status, error.name.lower().replace(" ", "-"), error.name)
    return _respond(response, kind, error.description or error.name, [])


def _from_anything(error: Exception) -> AnyResponse:
    log.error("broken", extra={"request_id": g.request_id}, exc_info=error)
    return _respond(Response(status=500), BROKEN, DESCRIPTIONS[500], [])


def _told(error: BoughError) -> Sequence[dict[str, Any]]:
    if isinstance(error, InvalidFile):
        return [_known(asdict(misfit)) for misfit in error.misfits]
    faults: tuple[Fault, ...] = error.faults if isinstance(error, InvalidData) else ()
    if isinstance(error, InvalidParameters):
        return [{"parameter": fault.pointer, "detail": fault.detail} for fault in faults]
    return [asdict(fault) for fault in faults]


def _known(told: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in told.items() if value is not None}


def _respond(
    response: AnyResponse, kind: Kind, detail: str, errors: Sequence[dict[str, Any]]
) -> AnyResponse:
    problem: dict[str, Any] = {
        "type": f"/problems/{kind.slug}",
        "title": kind.title,
        "status": kind.status,
        "detail": detail,
        "instance": quote(request.path),
        "request_id": g.request_id,
    }
    if errors:
        problem["errors"] = errors
    response.data = orjson.dumps(problem)
    response.content_type = MEDIA_TYPE
    return response
