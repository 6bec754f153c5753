"""Heads: that of a question is read, that of its answer written, as gunicorn does both.

Only what can be read in one way is read here; all else is left to gunicorn.
"""

import re
from functools import lru_cache
from time import time
from typing import NamedTuple, TypeAlias

from gunicorn.util import http_date

MOST_HEAD = 4_000  # bytes, and so of any line of it
MOST_FIELDS = 64
LINE = re.compile(rb"POST (/[!$&->@-~]*) HTTP/1\.1\r\n")  # a path that means what it says: no %?#
# Blanks around a value are cut off afterwards: to look for them here could take seconds.
HEADER = re.compile(rb"([A-Za-z0-9!#$%&'*+.^`|~-]+):([\t -~]*)\r\n")
BEHIND_HEADERS = b"\r\n\r\n"
LENGTH = re.compile("[0-9]{1,9}")
# What has a body that does not simply follow, wants an answer before it is sent, or may contradict
# another of the headers that tell how the client reached the proxy.
UNUSUAL = {"transfer-encoding", "expect", "upgrade", "x-forwarded-protocol", "x-forwarded-ssl"}

Headers: TypeAlias = list[tuple[str, str]]
Told: TypeAlias = tuple[bytes | memoryview, Headers]  # an answer, and its headers


class Head(NamedTuple):
    """The head of a request whose body follows as it is."""

    path: str
    headers: dict[str, str]  # by names in small letters
    n_bytes: int  # of the head itself ...
    n_body: int  # ... and of what follows

    @property
    def is_last(self) -> bool:
        """Whether no other request will follow."""
        return self.headers.get("connection", "").lower() == "close"


class Post(NamedTuple):
    """A request that has come whole."""

    head: Head
    body: bytes


def head_in(sent: bytes) -> Head | None:
    """The head at the start of what a client sent; None if it is not whole, or not usual."""
    line, end = LINE.match(sent), sent.find(BEHIND_HEADERS, 0, MOST_HEAD) + 2
    if line is None or end < line.end():
        return None
    headers = _headers(sent, line.end(), end)
    if headers is None or not LENGTH.fullmatch(headers.get("content-length", "")):
        return None
    return Head(line[1].decode(), headers, end + 2, int(headers["content-length"]))


def post_in(sent: bytes, head: Head) -> Post | None:
    """The whole request that begins with this head; None if some of it has not come."""
    end = head.n_bytes + head.n_body
    return None if len(sent) < end else Post(head, sent[head.n_bytes : end])


def _headers(sent: bytes, start: int, end: int) -> dict[str, str] | None:
    """The headers by name; None where one is unusual, or stands there twice."""
    headers: dict[str, str] = {}
    while start < end:
        header = HEADER.match(sent, start, end)
        name = "" if header is None else header[1].decode().lower()
        if header is None or name in headers or name in UNUSUAL:
            return None
        headers[name], start = header[2].decode().strip(" \t"), header.end()
    return headers if len(headers) <= MOST_FIELDS else None


def head_of(headers: Headers, *, is_kept: bool) -> bytes:
    """The head of an answer, which says whether the client may ask again."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
    connection = "keep-alive" if is_kept else "close"
    return (
        f"HTTP/1.1 200 OK\r\nServer: gunicorn\r\nDate: {_date(int(time()))}\r\n"
        f"Connection: {connection}\r\n{lines}\r\n"
    ).encode("latin-1")


@lru_cache(maxsize=1)
def _date(second: int) -> str:
    return str(http_date(second))
