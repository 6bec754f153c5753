"""Rows in bulk, in whatever form: read in blocks, and answered block by block.

NDJSON is answered while it still comes. The other forms have no room for a problem once they have
begun; so their answers are put aside until the last row was read.
"""

import logging
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from itertools import chain
from typing import Any, TypeAlias
from urllib.parse import quote

from flask import Response, current_app, g, request, stream_with_context

from service.actions.bulk import Asked, Block, encoded, parted
from service.actions.bulk_csv import read_csv, write_csv
from service.actions.bulk_lines import read_lines
from service.actions.bulk_texts import write_lines, write_object
from service.actions.ready import Ready
from service.errors import LimitReached, Unavailable
from service.files.place import open_place
from service.files.records import Ingestion
from service.settings import Settings
from service.tree.table import Table
from service.web.backlog import IN_MEMORY, Backlog, collected, flowing, readiness
from service.web.bodies import plain_chunks
from service.web.bulk_query import order_of, read_asked
from service.web.context import IS_LEAVING, context
from service.web.media import ARROW, CSV, JSON, NDJSON, TYPES
from service.web.packing import LEAST, PACKED, VARY, is_liked, packed_pieces
from service.web.problems import problem_of
from service.web.turns import Turns

Reader: TypeAlias = Callable[[Iterator[bytes], Asked, Ingestion], Iterator[Block]]
Writer: TypeAlias = Callable[[Asked, Iterator[Block]], Iterator[bytes]]

CHUNK, STREAM_CHUNK = 1024**2, 256 * 1024  # bytes: of a body as a whole, of one without an end
LARGE = 16 * 1024**2  # bytes of a body from which on it needs a place, as those of unknown size do
LEAVING = 20.0  # seconds that a stream is given when this process is to end; gunicorn gives it 30
# A proxy that collects what comes would keep answers back until the end.
AT_ONCE = ("X-Accel-Buffering", "no")

TURNS = Turns()
log = logging.getLogger(__name__)


def _arrow(name: str) -> Any:
    """A function of the module that has Arrow, which is imported when it is first needed."""
    return getattr(import_module("service.actions.bulk_arrow"), name)


def _ask_in_arrow(sent: bytes, ready: Ready, max_bytes: int) -> bytes | memoryview | None:
    """Likewise of the module that has native code for it."""
    answer: bytes | memoryview | None = import_module("service.actions.ask_arrow").ask_in_arrow(
        sent, ready, max_bytes
    )
    return answer


READERS: dict[str, Reader] = {
    NDJSON: read_lines,
    CSV: read_csv,
    ARROW: lambda chunks, asked, order: _arrow("read_arrow")(chunks, asked, order),
}
WRITERS: dict[str, Writer] = {
    JSON: write_object,
    NDJSON: write_lines,
    CSV: write_csv,
    ARROW: lambda asked, blocks: _arrow("write_arrow")(asked, blocks),
}


@dataclass(frozen=True)
class Bulk:
    """Whom rows are put to, in which form they are answered, and within which limits."""

    asked: Asked
    wanted: str
    settings: Settings
    end: float  # until when there is time

    def pieces(self, blocks: Iterator[Block]) -> Iterator[bytes]:
        """The answer, a piece at a time."""
        return TURNS.within(WRITERS[self.wanted](self.asked, blocks))

    def backlog(self) -> Backlog:
        """Where answers are put aside."""
        return Backlog(lambda: open_place(self.settings).spooled(), self.settings.max_bulk_bytes)


def answer_body(query: Mapping[str, Any], name: str | None, sent: str, wanted: str) -> Response:
    """The answer to a body of rows in one of the forms, in another one of them."""
    bulk = _bulk(read_asked(query, name), wanted)
    order = order_of(query, bulk.settings)
    with ExitStack() as stack:
        stack.enter_context(context().places.moving(request.content_length, LARGE))
        size = STREAM_CHUNK if request.content_length is None else CHUNK
        chunks = plain_chunks(bulk.settings.max_bulk_bytes, size)
        waited = TURNS.without(_in_time(chunks, bulk))
        blocks = READERS[sent](waited, bulk.asked, order)
        return _answer(bulk, blocks, stack.pop_all())


def answer_arrow(
    sent: bytes, ready: Ready, settings: Settings
) -> tuple[bytes | memoryview, list[tuple[str, str]]] | None:
    """The answer to an Arrow IPC stream, in its own form, with its headers; None if it is large."""
    asked, order = Asked(ready), order_of({}, settings)
    answer = _ask_in_arrow(sent, ready, min(order.max_bytes, IN_MEMORY))
    if answer is not None and len(answer) <= IN_MEMORY:
        return answer, _headers(ARROW, ready)
    blocks = READERS[ARROW](iter([sent]), asked, order)
    pieces, n_bytes = [], 0
    for piece in TURNS.within(WRITERS[ARROW](asked, blocks)):
        pieces.append(piece)
        n_bytes += len(piece)
        if n_bytes > IN_MEMORY:
            return None
    return b"".join(pieces), _headers(ARROW, ready)


def answer_table(asked: Asked, table: Table, wanted: str) -> Response:
    """The answer to a table, in one of the forms."""
    return _answer(_bulk(asked, wanted), parted(asked, encoded(asked, table)), ExitStack())


def _bulk(asked: Asked, wanted: str) -> Bulk:
    settings = context().settings
    return Bulk(asked, wanted, settings, time.monotonic() + settings.bulk_seconds)


def _answer(bulk: Bulk, blocks: Iterator[Block], stack: ExitStack) -> Response:
    """The response; what is on the stack is given back when it was sent."""
    with stack:
        backlog = stack.enter_context(bulk.backlog())
        make = _while_it_comes if bulk.wanted == NDJSON else _as_a_whole
        response = make(bulk, blocks, backlog)
        response.call_on_close(stack.pop_all().close)
    response.headers.set(*VARY)
    for header in _headers(bulk.wanted, bulk.asked.ready):
        response.headers.set(*header)
    return response


def _headers(wanted: str, ready: Ready) -> list[tuple[str, str]]:
    """The form of an answer, and which version it is from."""
    version = ready.loaded.version
    return [
        ("Content-Type", TYPES[wanted]),
        ("Bough-Model", quote(version.model)),
        ("Bough-Version", str(version.number)),
    ]


def _while_it_comes(bulk: Bulk, blocks: Iterator[Block], backlog: Backlog) -> Response:
    pieces = bulk.pieces(_counted(blocks))
    first = next(pieces, b"")  # what is wrong in the first block has a status of its own
    is_ready = readiness(request.environ.get("gunicorn.socket"))
    body = flowing(chain([first], _to_the_end(pieces)), backlog, is_ready)
    response = _packed(stream_with_context(_until(bulk.end, body)), len(first))
    response.headers.set(*AT_ONCE)
    return response


def _as_a_whole(bulk: Bulk, blocks: Iterator[Block], backlog: Backlog) -> Response:
    body = collected(bulk.pieces(blocks), backlog)
    n_bytes = backlog.n_bytes
    response = _packed(_until(bulk.end, body), n_bytes)
    if PACKED[0] not in response.headers:
        response.content_length = n_bytes
    return response


def _packed(body: Iterator[bytes], n_bytes: int) -> Response:
    if n_bytes < LEAST or not is_liked(request.headers.get("Accept-Encoding", "")):
        return Response(body)
    response = Response(packed_pieces(body))
    response.headers.set(*PACKED)
    return response


def _in_time(chunks: Iterable[bytes], bulk: Bulk) -> Iterator[bytes]:
    """The chunks of a body, as long as there is time for them."""
    is_leaving: Callable[[], bool] = current_app.config[IS_LEAVING]
    left = None
    for chunk in chunks:
        yield chunk
        now = time.monotonic()
        if now > bulk.end:
            raise LimitReached(
                f"It took more than {bulk.settings.bulk_seconds:g} seconds, which is the limit"
                " (BOUGH_BULK_SECONDS); send the rest of the rows on their own."
            )
        left = left or (now if is_leaving() else None)
        if left is not None and now > left + LEAVING:
            raise Unavailable("The server is about to end; send the rest of the rows again.")


def _until(end: float, body: Iterator[bytes]) -> Iterator[bytes]:
    """The body; who reads it so slowly that there is no more time loses the connection."""
    for piece in body:
        yield piece
        if time.monotonic() > end + LEAVING:
            raise TimeoutError("the answer was not read in time")


def _to_the_end(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces; an error becomes the last line."""
    try:
        yield from pieces
    except Exception as error:  # noqa: BLE001 (the problem says what it is, or the log)
        yield problem_of(error) + b"\n"


def _counted(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks; in the end the log is told how many rows there were, which it was not before."""
    request_id, n_rows = g.request_id, 0
    try:
        for block in blocks:
            n_rows += len(block)
            yield block
    finally:
        log.info("rows in bulk", extra={"rows": n_rows, "request_id": request_id})
