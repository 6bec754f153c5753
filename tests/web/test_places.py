"""Places: while a large body is on its way, threads let each other go on sooner."""

import sys
from contextlib import ExitStack

import pytest

from service.errors import Unavailable
from service.settings import Settings
from service.web.places import LARGE, SHORT, make_places


def test_threads_let_each_other_go_on_sooner_as_long_as_there_is_a_large_body() -> None:
    places, usual = make_places(Settings(web_threads=3)), sys.getswitchinterval()
    first, second = ExitStack(), ExitStack()
    with first:
        first.enter_context(places.moving(LARGE))
        with second:
            second.enter_context(places.moving(None))
            first.close()
            assert sys.getswitchinterval() == pytest.approx(SHORT)

    assert sys.getswitchinterval() == usual > SHORT


def test_a_small_body_changes_nothing() -> None:
    usual = sys.getswitchinterval()
    with make_places(Settings()).moving(LARGE - 1):
        assert sys.getswitchinterval() == usual


def test_a_body_that_breaks_gives_its_place_back() -> None:
    places, usual = make_places(Settings(web_threads=2)), sys.getswitchinterval()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), places.moving(LARGE):
            raise ZeroDivisionError

    assert sys.getswitchinterval() == usual
    with places.moving(LARGE), pytest.raises(Unavailable), places.moving(LARGE):
        pass
