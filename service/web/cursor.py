"""Cursors: where a page of a list ended, in a form that means nothing to whoever holds it."""

import binascii
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from hashlib import blake2b
from typing import Any

import orjson

from service.errors import Fault
from service.storage.records import Item, Page, Position
from service.web.problems import InvalidParameters

SEAL_BYTES = 6  # shows that a cursor was not made here; it keeps no secret


def read_page(
    fetch: Callable[[Position | None], Page[Item]], of: str, cursor: str | None
) -> dict[str, Any]:
    """The page of a list that a cursor stands for, with the cursor of the next one if any."""
    page = fetch(None if cursor is None else decode(of, cursor))
    told: dict[str, Any] = {"items": page.items}
    if page.next is not None:
        told["next_cursor"] = encode(of, page.next)
    return told


def encode(of: str, position: Position) -> str:
    """The cursor of a position in a list; `of` tells the list and its order from others."""
    content = orjson.dumps([of, *position])
    return urlsafe_b64encode(_seal(content) + content).decode().rstrip("=")


def decode(of: str, cursor: str) -> Position:
    """The position that a cursor of this list stands for."""
    try:
        sealed = urlsafe_b64decode(cursor.encode() + b"=" * (-len(cursor) % 4))
    except (binascii.Error, ValueError):
        raise _not_ours() from None
    seal, content = sealed[:SEAL_BYTES], sealed[SEAL_BYTES:]
    # base64 leaves out what it does not know, hence the comparison with the text as we write it
    if seal != _seal(content) or urlsafe_b64encode(sealed).decode().rstrip("=") != cursor:
        raise _not_ours()
    found, *position = orjson.loads(content)
    if found != of:
        raise _not_ours()
    return tuple(position)


def _seal(content: bytes) -> bytes:
    return blake2b(content, digest_size=SEAL_BYTES, key=b"bough cursor").digest()


def _not_ours() -> InvalidParameters:
    detail = "must be the next_cursor of a page of this list in this order"
    return InvalidParameters(f"cursor {detail}", [Fault("cursor", detail)])
