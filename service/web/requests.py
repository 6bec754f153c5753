"""Each request has an id, which is answered and logged; what was sent is never logged."""

import logging
import re
from contextlib import suppress
from http import HTTPStatus
from random import getrandbits
from time import perf_counter
from typing import Any

from flask import Flask, Response, g, request

from service.errors import NotFound
from service.logs import info
from service.web.places import LARGE_BODY
from service.web.problems import NOTHING_HERE

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
CHUNK = 1 << 18  # bytes
STARTED = "bough.started"  # in the environ of a request: when it came
CONVERTER = re.compile(r"<(?:[^:<>]+:)?([^<>]+)>")

log = logging.getLogger(__name__)


def watch_requests(app: Flask) -> None:
    """Give every request of the app an id, and every answer its headers and its log line."""
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    # who handed it on may have seen it come
    g.started = request.environ.get(STARTED) or perf_counter()
    g.request_id = id_of(request.headers.get("X-Request-ID", ""))
    _refuse_nul(request.view_args or {})


def id_of(given: str) -> str:
    """The id of a request: the one that came with it if it has the form of one, or a new one."""
    # not uuid4, which asks the system: in between another thread would take its turn
    return given if given and REQUEST_ID.fullmatch(given) else f"{getrandbits(128):032x}"


def _end(response: Response) -> Response:
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        _take_the_rest(response.status_code)
    for name, value in headers_of(g.request_id):
        response.headers[name] = value
    note(request.method, _route(), response.status_code, g.started, g.request_id)
    return response


def _take_the_rest(status: int) -> None:
    """Reads what is left of a body that was refused, unless it is large, or was waited for enough.

    gunicorn would hang up where more of it is left than it reads, after an answer that does not say
    so; and the next question on that connection would be lost.
    """
    n_bytes = request.content_length
    if n_bytes is None or n_bytes > LARGE_BODY or status == HTTPStatus.REQUEST_TIMEOUT:
        return
    with suppress(OSError):  # whoever is gone wants no answer either
        while request.environ["wsgi.input"].read(CHUNK):
            pass


def headers_of(request_id: str) -> list[tuple[str, str]]:
    """The headers that every answer has."""
    return [("X-Request-ID", request_id), ("X-Content-Type-Options", "nosniff")]


def note(method: str, route: str | None, status: int, started: float, request_id: str) -> None:
    """Log a request that is answered now."""
    fields = {
        "method": method,
        "route": route,
        "status": status,
        "duration_ms": round((perf_counter() - started) * 1000, 3),
        "request_id": request_id,
    }
    info(log, "request", fields)


def _route() -> str | None:
    """The template of the address: with its values it would be another for each model."""
    return CONVERTER.sub(r"{\1}", request.url_rule.rule) if request.url_rule else None


def _refuse_nul(path: dict[str, Any]) -> None:
    # PostgreSQL cannot even be asked for a text with this character, so nothing has such a name.
    if any(isinstance(value, str) and "\0" in value for value in path.values()):
        raise NotFound(NOTHING_HERE)
