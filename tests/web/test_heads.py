"""Requests are read as gunicorn reads them, or not at all."""

import pytest
from gunicorn.config import Config
from gunicorn.http.parser import RequestParser
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.web.heads import Head, Post, head_in, post_in

CONFIG = Config()
BODY = b'{"rows": [{}]}'
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
HEADS = st.builds(
    lambda path, headers: b"POST %b HTTP/1.1\r\n%b\r\n" % (path, b"".join(headers)),
    st.sampled_from([b"/predict", b"/models/a@b/predict", b"//", b"/a:b"]),
    st.permutations(
        [LENGTH, b"Host: a\r\n", b"X-1:\t a;b=c \r\n", b"connection:close\r\n", b"X-2:\r\n"]
    ).map(lambda headers: headers[: headers.index(LENGTH) + 1]),
)
LETTERS = st.sampled_from(b"\r\n\0 \t:,_%?+1\xff").map(lambda letter: bytes([letter]))
LINES = st.sampled_from(
    [b"\r\n", b"\r\n ", LENGTH, b"X-1: \r\n", b"Transfer-Encoding: chunked\r\n", b"Expect: a\r\n"]
)
PLACES = st.tuples(st.integers(0, 120), st.integers(0, 2), LETTERS | LINES)


@st.composite
def requests(draw: st.DrawFn) -> bytes:
    """A request, mostly with something odd in its head, and perhaps another one behind it."""
    head = draw(HEADS)
    for place, n_removed, odd in draw(st.lists(PLACES, max_size=2)):
        at = place % len(head)
        head = head[:at] + odd + head[at + n_removed :]
    return head + BODY + draw(st.sampled_from([b"", b"POST /next HTTP/1.1\r\n\r\n"]))


@settings(max_examples=1000)
@given(requests())
@example(b"POST /predict HTTP/1.1\r\n" + LENGTH + b"\r\n" + BODY + b"POST /next")
@example(b"POST /a@b HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + BODY)
def test_what_is_read_is_read_as_gunicorn_reads_it(sent: bytes) -> None:
    post = post_of(sent)

    assert post is None or post == as_gunicorn_reads(sent)


def test_the_usual_is_read() -> None:
    sent = b"POST /predict HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + BODY

    headers = {"host": "a", "content-length": str(len(BODY))}
    head = Head("/predict", headers, len(sent) - len(BODY), len(BODY))

    assert post_of(sent + b"more") == Post(head, BODY)
    assert head_in(sent[: head.n_bytes]) == head
    assert head_in(sent[: head.n_bytes - 1]) is None
    assert post_of(sent[:-1]) is None


BLANKS = b" " * 3900


@pytest.mark.parametrize(
    ("value", "read"),
    [
        (BLANKS + b"\x01", None),
        (b"a" + BLANKS + b"b ", "a" + BLANKS.decode() + "b"),
        (b"\t" * 3900 + b"\n", None),
    ],
)
@pytest.mark.timeout(5)
def test_blanks_are_passed_over_once(value: bytes, read: str | None) -> None:
    head = b"POST /predict HTTP/1.1\r\nX:" + value + b"\r\n" + LENGTH + b"\r\n"
    for _ in range(1000):
        found = head_in(head + BODY)
        assert read == (None if found is None else found.headers["x"])


def post_of(sent: bytes) -> Post | None:
    head = head_in(sent)
    return None if head is None else post_in(sent, head)


def as_gunicorn_reads(sent: bytes) -> Post:
    parser = RequestParser(CONFIG, iter([sent]), ("127.0.0.1", 1))
    request = next(parser)
    assert (request.method, request.query, request.version) == ("POST", "", (1, 1))
    headers = {name.lower(): value for name, value in request.headers}
    assert len(headers) == len(request.headers)
    body = request.body.read()
    rest = b"".join(iter(parser.unreader.read, b""))
    assert request.should_close() == (headers.get("connection") == "close")
    n_bytes = len(sent) - len(rest) - len(body)
    return Post(Head(request.path, headers, n_bytes, len(body)), body)
