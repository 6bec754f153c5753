"""Small requests are read as gunicorn reads them, or not at all."""

from gunicorn.config import Config
from gunicorn.http.parser import RequestParser
from hypothesis import example, given, settings
from hypothesis import strategies as st

from service.web.heads import Small, small_of

CONFIG = Config()
BODY = b'{"rows": [{}]}'
BREAKS = st.sampled_from([b"\r\n"] * 12 + [b"\n", b"\r", b"\r\n ", b"\r\r\n", b""])
NAMES = st.sampled_from(
    b"Content-Length content-length Content-Type Host Connection X-1 X-Forwarded-Proto "
    b"Transfer-Encoding Content_Length Expect (X) X-\xff X\0".split(b" ")
    + [b"", b"X Y"]
)
GAPS = st.sampled_from([b": "] * 6 + [b":", b":\t ", b" : ", b" ", b":\0"])
VALUES = st.sampled_from(
    [b"%d" % len(BODY)] * 4
    + [b"0", b"3", b"+3", b"3,3", b"3 3", b"0x3", b"\xb2", b"", b"close", b"chunked", b"a;b=\t c "]
)
LINES = st.sampled_from(
    [b"POST /predict HTTP/1.1"] * 8
    + [b"POST /a%62 HTTP/1.1", b"POST  /a HTTP/1.1", b"post /a HTTP/1.1", b"POST /a HTTP/1.0"]
    + [b"POST /a?b HTTP/1.1", b"POST http://a/b HTTP/1.1", b"POST //a HTTP/1.1 ", b""]
)
HEADERS = st.tuples(NAMES, GAPS, VALUES, BREAKS).map(b"".join)
LENGTH = b"Content-Length: %d\r\n" % len(BODY)
REQUESTS = st.builds(
    lambda line, line_break, headers, rest: line + line_break + b"".join(headers) + rest,
    LINES,
    BREAKS,
    st.lists(HEADERS | st.just(LENGTH), max_size=4),
    st.sampled_from([b"\r\n" + BODY, b"\r\n" + BODY + b"POST /next", b"\n" + BODY, BODY, b"\r\n"]),
)


@settings(max_examples=1000)
@given(REQUESTS)
@example(b"POST /predict HTTP/1.1\r\n" + LENGTH + b"\r\n" + BODY + b"POST /next")
@example(b"POST /a@b HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + BODY)
def test_what_is_read_is_read_as_gunicorn_reads_it(sent: bytes) -> None:
    small = small_of(sent)

    assert small is None or small == as_gunicorn_reads(sent)


def test_the_usual_is_read() -> None:
    sent = b"POST /predict HTTP/1.1\r\nHost: a\r\n" + LENGTH + b"\r\n" + BODY

    assert small_of(sent + b"more") == Small(
        "/predict", {"host": "a", "content-length": str(len(BODY))}, BODY, len(sent)
    )


def as_gunicorn_reads(sent: bytes) -> Small:
    parser = RequestParser(CONFIG, iter([sent]), ("127.0.0.1", 1))
    request = next(parser)
    assert (request.method, request.query, request.version) == ("POST", "", (1, 1))
    headers = {name.lower(): value for name, value in request.headers}
    assert len(headers) == len(request.headers)
    body = request.body.read()
    rest = b"".join(iter(parser.unreader.read, b""))
    assert request.should_close() == (headers.get("connection") == "close")
    return Small(request.path, headers, body, len(sent) - len(rest))
