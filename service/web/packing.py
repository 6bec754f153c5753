"""gzip both ways: bodies are unpacked as they come, large answers packed where that is liked."""

import gzip
import zlib
from collections.abc import Iterable, Iterator

from werkzeug.datastructures import Accept
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge, UnsupportedMediaType
from werkzeug.http import parse_accept_header

CODINGS = ("gzip", "x-gzip")
VARY = ("Vary", "Accept, Accept-Encoding")
PACKED = ("Content-Encoding", "gzip")
LEAST = 32 * 1024  # bytes of an answer: of a smaller one there is little to be saved
LEVEL = 1  # JSON becomes a tenth; higher levels take twice the time for little more
WBITS = 31  # a gzip header, and the largest window
CHUNK = 256 * 1024
SLICE = 64 * 1024
MOST_EMPTY = 1_000  # parts of a stream that have nothing in them


def unpacked(chunks: Iterable[bytes], coding: str, most: int) -> Iterator[bytes]:
    """The bytes of a body that came in this coding; beyond so many of them it is too large."""
    if coding.lower() not in ("identity", *CODINGS):
        raise UnsupportedMediaType("The body may be gzipped; another encoding cannot be read.")
    return _within(most, _inflated(chunks)) if coding.lower() in CODINGS else iter(chunks)


def _inflated(chunks: Iterable[bytes]) -> Iterator[bytes]:
    inflate = zlib.decompressobj(WBITS)
    for chunk in _slices(chunks):
        rest, is_more = chunk, False
        while rest or is_more:
            if inflate.eof:  # another member follows
                inflate = zlib.decompressobj(WBITS)
            try:
                found = inflate.decompress(rest, CHUNK)
            except zlib.error:
                raise BadRequest("The gzip stream is damaged.") from None
            rest = inflate.unused_data if inflate.eof else inflate.unconsumed_tail
            is_more = len(found) == CHUNK and not inflate.eof  # inside, without more to read
            yield found
    if not inflate.eof:
        raise BadRequest("The gzip stream ends too early: some of it was lost.")


def _within(most: int, pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces that have something in them, as long as they are not too much."""
    n_bytes = n_empty = 0
    for piece in pieces:
        n_bytes += len(piece)
        n_empty += not piece
        if n_bytes > most:
            raise RequestEntityTooLarge(f"The body is larger than {most} bytes, unpacked.")
        if n_empty > MOST_EMPTY:  # each takes its time, and no limit of bytes would notice
            raise BadRequest("The gzip stream has very many parts that are empty.")
        if piece:
            yield piece


def _slices(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same bytes, few at a time: with each member of a stream its rest is copied."""
    for chunk in chunks:
        yield from (chunk[at : at + SLICE] for at in range(0, len(chunk), SLICE))


def is_liked(accepted: str) -> bool:
    """Whether whoever asks with this Accept-Encoding likes gzip."""
    if "gzip" not in accepted and "*" not in accepted:
        return False
    return parse_accept_header(accepted, Accept).quality("gzip") > 0


def fitted(
    answer: bytes | memoryview, accepted: str
) -> tuple[bytes | memoryview, list[tuple[str, str]]]:
    """The answer as it is sent to whoever asks with this Accept-Encoding, and its headers."""
    if len(answer) < LEAST or not is_liked(accepted):
        return answer, [VARY]
    return gzip.compress(answer, LEVEL, mtime=0), [VARY, PACKED]


def packed_pieces(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The pieces of an answer, gzipped; each can be unpacked as soon as it has come."""
    deflate = zlib.compressobj(LEVEL, wbits=WBITS)
    for piece in pieces:
        yield deflate.compress(piece) + deflate.flush(zlib.Z_SYNC_FLUSH)
    yield deflate.flush()
