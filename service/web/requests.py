"""Each request has an id, which is answered and logged; what was sent is never logged."""

import logging
import re
from time import perf_counter
from typing import Any
from uuid import uuid4

from flask import Flask, Response, g, request

from service.errors import NotFound
from service.web.problems import NOTHING_HERE

REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,128}")
CONVERTER = re.compile(r"<(?:[^:<>]+:)?([^<>]+)>")

log = logging.getLogger(__name__)


def watch_requests(app: Flask) -> None:
    """Give every request of the app an id, and every answer its headers and its log line."""
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    given = request.headers.get("X-Request-ID", "")
    g.started = perf_counter()
    g.request_id = given if REQUEST_ID.fullmatch(given) else uuid4().hex
    _refuse_nul(request.view_args or {})


def _end(response: Response) -> Response:
    response.headers["X-Request-ID"] = g.request_id
    response.headers["X-Content-Type-Options"] = "nosniff"
    fields = {
        "method": request.method,
        "route": _route(),
        "status": response.status_code,
        "duration_ms": round((perf_counter() - g.started) * 1000, 3),
        "request_id": g.request_id,
    }
    log.info("request", extra=fields)
    return response


def _route() -> str | None:
    """The template of the address: with its values it would be another for each model."""
    return CONVERTER.sub(r"{\1}", request.url_rule.rule) if request.url_rule else None


def _refuse_nul(path: dict[str, Any]) -> None:
    # PostgreSQL cannot even be asked for a text with this character, so nothing has such a name.
    if any(isinstance(value, str) and "\0" in value for value in path.values()):
        raise NotFound(NOTHING_HERE)
