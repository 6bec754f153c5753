"""The lane: ordinary questions are answered in front of Flask, which would take longer than they.

Whatever is not ordinary, and all that goes wrong, is handed on to Flask as it came. What holds for
every request must hold here too: its id, its headers, its log line, the limits of its body.
"""

import logging
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from io import BytesIO
from threading import local
from time import perf_counter
from typing import TYPE_CHECKING, NoReturn

from flask import Flask

from service.actions.ask import Find, ask
from service.actions.names import Selected
from service.actions.ready import Ready
from service.errors import BoughError
from service.web.bulk import answer_arrow
from service.web.context import EXTENSION, Context
from service.web.heads import Head, Post, Told
from service.web.media import ARROW, JSON, TYPES
from service.web.names import is_selected
from service.web.packing import fitted
from service.web.places import LARGE_BODY
from service.web.requests import STARTED, headers_of, id_of, note

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PREDICT, MODELS = "/predict", "/models/"
LENGTH = re.compile("[0-9]{1,15}")
ANYTHING, AS_IT_IS = "*/*", "identity"
_JSON = frozenset({ANYTHING, "application/json", "application/json, text/plain, */*"})
ACCEPTED = {  # what may be accepted so that a body is answered in its own form
    "application/json": _JSON,
    "application/json; charset=utf-8": _JSON,
    TYPES[ARROW]: frozenset({ANYTHING, TYPES[ARROW]}),
}

JSON_HEADERS = [("Content-Type", TYPES[JSON])]
ROWS = re.compile(rb'"rows"[ \t\r\n]*:[ \t\r\n]*\Z')
AT_ONCE = 1 << 17  # answers of leaves, of all rows, that are looked at in a millisecond or two

log = logging.getLogger(__name__)


def open_lane(app: Flask) -> None:
    """Have ordinary questions answered in front of the app."""
    lane = Lane(app.wsgi_app, app.extensions[EXTENSION])
    app.wsgi_app = lane  # type: ignore[method-assign]


class Lane:
    """Answers what it can and hands on the rest."""

    def __init__(self, app: "WSGIApplication", context: Context) -> None:
        self.app = app
        self._settings = context.settings
        self._memory = context.memory
        self._here = local()
        self._most_bytes = min(context.settings.max_body_bytes, LARGE_BODY)

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """The answer to a request."""
        started, name = perf_counter(), _asked(environ)
        told = None
        if name is not None and _is_plain(environ) and not self._is_aside():
            told = self._answer(environ, name)
        if name is None or told is None:
            environ[STARTED] = started
            return self.app(environ, start_response)
        given = environ.get("HTTP_X_REQUEST_ID", "")
        accepted = environ.get("HTTP_ACCEPT_ENCODING", "")
        answer, headers = _ended(told, name, started, given, accepted)
        start_response("200 OK", headers)
        return [bytes(answer)]

    def takes(self, head: Head) -> bool:
        """Whether a request may be a question that can be answered here."""
        headers = head.headers
        type_, wanted = headers.get("content-type", ""), headers.get("accept", ANYTHING)
        return (
            _named(head.path) is not None
            and _is_own_form(type_, wanted, headers.get("content-encoding", AS_IT_IS))
            and head.n_body <= self._most_bytes
        )

    def is_small(self, head: Head) -> bool:
        """Whether it may be told at once: Arrow may have to be imported first."""
        return head.headers.get("content-type") != TYPES[ARROW]

    @contextmanager
    def aside(self) -> Iterator[None]:
        """A block in which all is handed on, since this thread has looked at it already."""
        self._here.is_aside = True
        try:
            yield
        finally:
            self._here.is_aside = False

    def _is_aside(self) -> bool:
        return getattr(self._here, "is_aside", False)

    def tell(self, post: Post, started: float) -> Told | None:
        """The answer to a small question, from memory and without waiting for anything."""
        name, find = _name_of(post), partial(self._find_at_hand, rows_at_most(post.body))
        return _told(post, name, self._ask(post.body, name, find), started)

    def answer(self, post: Post, started: float) -> Told | None:
        """The answer to a question, which may be large."""
        name, type_ = _name_of(post), post.head.headers["content-type"]
        return _told(post, name, self._ask_any(post.body, type_, name), started)

    def _find_at_hand(self, n_rows: int, selected: Selected) -> Ready | None:
        """A version that tells so many rows soon."""
        ready = self._memory.fresh(selected)
        teller = None if ready is None else ready.loaded.teller
        return None if teller is None or n_rows * teller.row_answers > AT_ONCE else ready

    def _answer(self, environ: "WSGIEnvironment", name: str) -> Told | None:
        sent = self._read(environ)
        return None if sent is None else self._ask_any(sent, environ["CONTENT_TYPE"], name)

    def _ask_any(self, sent: bytes, type_: str, name: str) -> Told | None:
        if type_ == TYPES[ARROW]:
            return self._ask_arrow(sent, name)
        return self._ask(sent, name, self._find)

    def _ask(self, sent: bytes, name: str, find: Find) -> Told | None:
        try:
            answer = ask(sent, name or None, find, self._settings)
        except Exception:
            log.exception("the lane broke")  # the long way may still lead there
            return None
        return None if answer is None else (answer, JSON_HEADERS)

    def _ask_arrow(self, sent: bytes, name: str) -> Told | None:
        try:
            ready = self._find((name, None)) if name else None
            return None if ready is None else answer_arrow(sent, ready, self._settings)
        except BoughError:
            return None  # which is told by those who read by hand
        except Exception:
            log.exception("the lane broke")
            return None

    def _read(self, environ: "WSGIEnvironment") -> bytes | None:
        """The body, which is left to be read again; None if it does not come whole."""
        n_bytes = int(environ["CONTENT_LENGTH"])
        if n_bytes > self._most_bytes:
            return None
        try:
            sent: bytes = environ["wsgi.input"].read(n_bytes)
        except OSError as error:
            environ["wsgi.input"] = Broken(error)
            return None
        environ["wsgi.input"] = BytesIO(sent)
        return sent if len(sent) == n_bytes else None

    def _find(self, selected: Selected) -> Ready | None:
        ready = self._memory.fresh(selected)
        if ready is not None or not is_selected(selected[0]):
            return ready
        try:
            return self._memory.find(selected)
        except BoughError:
            return None


class Broken:
    """In the place of a body that broke off: whoever reads it hears so."""

    def __init__(self, error: OSError) -> None:
        self._error = error

    def read(self, _n_bytes: int = -1) -> NoReturn:
        """Raises what was raised before."""
        raise self._error


def _name_of(post: Post) -> str:
    return _named(post.head.path) or ""


def _told(post: Post, name: str, told: Told | None, started: float) -> Told | None:
    """What is told of a request, as it is sent."""
    if told is None:
        return None
    headers = post.head.headers
    given, accepted = headers.get("x-request-id", ""), headers.get("accept-encoding", "")
    return _ended(told, name, started, given, accepted)


def _ended(told: Told, name: str, started: float, given_id: str, accepted: str) -> Told:
    """An answer as it is sent, with all its headers; its request is logged."""
    request_id = id_of(given_id)
    note("POST", f"{MODELS}{{name}}{PREDICT}" if name else PREDICT, 200, started, request_id)
    answer, packing = fitted(told[0], accepted)
    length = ("Content-Length", str(len(answer)))
    return answer, [*told[1], length, *packing, *headers_of(request_id)]


def _asked(environ: "WSGIEnvironment") -> str | None:
    """The model's name in the address, empty where it is in the body; None if nothing is asked."""
    return _named(environ.get("PATH_INFO", "")) if environ["REQUEST_METHOD"] == "POST" else None


def _named(path: str) -> str | None:
    """The same of a path."""
    if not path.endswith(PREDICT):
        return None
    if path == PREDICT:
        return ""
    name = path[len(MODELS) : -len(PREDICT)]
    if not path.startswith(MODELS) or not name or "/" in name:
        return None
    try:
        return name.encode("latin-1").decode()  # WSGI has bytes as latin-1
    except UnicodeError:
        return None


def _is_own_form(type_: str, accept: str, encoding: str) -> bool:
    """Whether a body comes as it is, and is to be answered in its own form."""
    return accept in ACCEPTED.get(type_, ()) and encoding == AS_IT_IS


def rows_at_most(sent: bytes) -> int:
    """How many rows a body may have at the most: as many as values, unless it begins with rows."""
    head = sent[: sent.find(b"[")]
    is_rows = head.count(b"{") == 1 and ROWS.search(head) is not None
    return sent.count(b"{") + (0 if is_rows else sent.count(b","))


def _is_plain(environ: "WSGIEnvironment") -> bool:
    """Whether a body comes as it is and of known length, and is to be answered in its own form."""
    type_, accept = environ.get("CONTENT_TYPE", ""), environ.get("HTTP_ACCEPT", ANYTHING)
    return (
        _is_own_form(type_, accept, environ.get("HTTP_CONTENT_ENCODING", AS_IT_IS))
        and not environ.get("QUERY_STRING")
        and LENGTH.fullmatch(environ.get("CONTENT_LENGTH", "")) is not None
    )
