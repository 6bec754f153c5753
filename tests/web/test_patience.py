"""Patience: a body that has come already is not waited for."""

from io import BytesIO

import pytest
from gunicorn.http.body import Body, LengthReader
from gunicorn.http.unreader import IterUnreader

from service.web.places import has_come


@pytest.mark.parametrize(("sent", "has"), [(b"12345", True), (b"123456", True), (b"1234", False)])
def test_gunicorn_shows_what_it_has_read_of_a_body(sent: bytes, *, has: bool) -> None:
    unreader = IterUnreader(iter([b"more"]))
    unreader.unread(sent)

    assert has_come(Body(LengthReader(unreader, 5)), 5) is has


def test_of_other_servers_nobody_knows() -> None:
    assert not has_come(BytesIO(b"12345"), 5)
