"""Bodies in and out: strict JSON, UTF-8, an object at the top."""

from collections.abc import Iterator
from typing import Any

import orjson
from flask import Flask, Response, request
from flask.json.provider import JSONProvider
from werkzeug.exceptions import (
    BadRequest,
    RequestEntityTooLarge,
    RequestTimeout,
    UnsupportedMediaType,
)

from service.actions.wrong_json import what_is_wrong
from service.errors import Fault, InvalidData
from service.web.context import context
from service.web.packing import unpacked

CHUNK_BYTES = 64 * 1024
JSON_CHUNK_BYTES = 1024**2  # of a body that is wanted as a whole: fewer, larger reads


def read_body() -> dict[str, Any]:
    """The body of this request, which must be a JSON object."""
    return parse_body(read_sent())


def read_sent() -> bytes:
    """The bytes of the body of this request, which must be declared as JSON."""
    _check_type()
    return b"".join(plain_chunks(context().settings.max_body_bytes, JSON_CHUNK_BYTES))


def parse_body(sent: bytes) -> dict[str, Any]:
    """The JSON object that a body is."""
    try:
        body = orjson.loads(sent)
    except orjson.JSONDecodeError as error:
        raise BadRequest(f"The body {what_is_wrong(sent, error, str(error))}") from None
    if not isinstance(body, dict):
        detail = "The body must be a JSON object."
        raise InvalidData(detail, [Fault("", detail)])
    return body


def _check_type() -> None:
    kind = request.mimetype
    if kind != "application/json" and not (
        kind.startswith("application/") and kind.endswith("+json")
    ):
        raise UnsupportedMediaType("The body must have the Content-Type application/json.")
    if request.mimetype_params.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType("JSON is UTF-8; another charset cannot be read.")


def body_chunks(most: int, size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """The bytes of the body as they come; who pauses for too long must not hold a thread."""
    seconds = context().settings.read_seconds
    try:
        yield from _chunks(most, size)
    except (BlockingIOError, TimeoutError):  # under gunicorn it is the first
        detail = f"The body did not arrive: nothing came for {seconds} seconds."
        raise RequestTimeout(detail) from None
    except OSError:  # of the connection, or of how it was cut into chunks
        raise BadRequest("The body broke off.") from None


def plain_chunks(most: int, size: int = CHUNK_BYTES) -> Iterator[bytes]:
    """The same, unpacked where the body is gzipped."""
    coding = request.headers.get("Content-Encoding", "identity")
    return unpacked(body_chunks(most, size), coding, most)


def _chunks(most: int, size: int) -> Iterator[bytes]:
    length = request.content_length
    if length is not None and length > most:
        raise _too_large(most)
    # By hand: Werkzeug's own limit cuts a body without a length off there, and says nothing.
    if length is None and not request.environ.get("wsgi.input_terminated"):
        return
    n_bytes = 0
    while chunk := request.stream.read(size):
        n_bytes += len(chunk)
        if n_bytes > most:
            raise _too_large(most)
        yield chunk
    if length is not None and n_bytes < length:
        raise BadRequest(f"The body ends after {n_bytes} of its {length} bytes.")


def _too_large(most: int) -> RequestEntityTooLarge:
    return RequestEntityTooLarge(f"The body is larger than {most} bytes.")


class OrjsonProvider(JSONProvider):
    """Flask's JSON through orjson: fast, and UTF-8 in the place of escapes."""

    def dumps(self, obj: Any, **_options: Any) -> str:
        """The JSON text of a value."""
        return orjson.dumps(obj).decode()

    def loads(self, s: str | bytes, **_options: Any) -> Any:
        """The value of a JSON text."""
        return orjson.loads(s)

    def response(self, *args: Any, **kwargs: Any) -> Response:
        """The answer whose body is this value, a line of its own in a terminal."""
        value = self._prepare_response_obj(args, kwargs)
        body = orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE)
        return Response(body, mimetype="application/json")


def speak_json(app: Flask) -> None:
    """Make the app write JSON by these rules."""
    app.json = OrjsonProvider(app)
