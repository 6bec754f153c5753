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


def unpacked(chunks: Iterable[bytes], coding: str, most: int) -> Iterator[bytes]:
    """The bytes of a body that came in this coding; beyond so many of them it is too large."""
    if coding.lower() not in ("identity", *CODINGS):
        raise UnsupportedMediaType("The body may be gzipped; another encoding cannot be read.")
    return _inflated(chunks, most) if coding.lower() in CODINGS else iter(chunks)


def _inflated(chunks: Iterable[bytes], most: int) -> Iterator[bytes]:
    inflate, n_bytes = zlib.decompressobj(WBITS), 0
    for chunk in chunks:
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
            n_bytes += len(found)
            if n_bytes > most:
                raise RequestEntityTooLarge(f"The body is larger than {most} bytes, unpacked.")
            if found:
                yield found
    if not inflate.eof:
        raise BadRequest("The gzip stream ends too early: some of it was lost.")


def is_liked(accepted: str) -> bool:
    """Whether whoever asks with this Accept-Encoding likes gzip."""
    if "gzip" not in accepted and "*" not in accepted:
        return False
    return parse_accept_header(accepted, Accept).quality("gzip") > 0


def fitted(answer: bytes, accepted: str) -> tuple[bytes, list[tuple[str, str]]]:
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
