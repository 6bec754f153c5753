"""Wording: what native code writes is, letter for letter, what is written by hand."""

from dataclasses import replace
from unittest.mock import patch

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.actions.load import Loaded
from service.actions.predict import Answer, by_row
from service.actions.ready import Texts
from service.actions.wording import listed, make_wording, worded
from service.tree.tell import Told, predictions_of, tell, tell_by_hand
from tests.actions.golf import golf
from tests.actions.odd_trees import loaded_trees
from tests.natives import natives, teller_of
from tests.strategies import matrices


def by_hand(loaded: Loaded, told: Told) -> list[bytes]:
    found = predictions_of(loaded.compiled, told)
    return [orjson.dumps(row) for row in by_row(Answer(loaded, found, None, ()))]


def answered(told: Told) -> Told:
    """Only those which have an answer."""
    return told.some(np.flatnonzero(told.leaves > 0))


def by_kernel(loaded: Loaded, told: Told) -> list[bytes]:
    texts_of = Texts(loaded, 10**6).of
    words = worded(make_wording(loaded.version), natives().write_rows, told, texts_of)
    return [text for some in words for text in some.rows]


@pytest.mark.parametrize("few_known", [0, 100])
@given(data=st.data())
def test_rows_are_worded_as_they_are_by_hand(few_known: int, data: st.DataObject) -> None:
    loaded = data.draw(loaded_trees())
    values = data.draw(matrices(loaded.compiled.attributes, 12))
    for told in (tell(teller_of(loaded.compiled), values), tell_by_hand(loaded.compiled, values)):
        some = answered(told)
        with patch("service.actions.wording.FEW_KNOWN", few_known):
            assert by_kernel(loaded, some) == by_hand(loaded, some)


def test_very_long_names_are_written_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = golf()
    told = tell_by_hand(loaded.compiled, np.full((20, 3), np.nan))
    monkeypatch.setattr("service.actions.wording.MOST_BYTES", 1)

    assert by_kernel(loaded, told) == by_hand(loaded, told)
    assert lists_of(loaded, told) == by_hand_unknown(loaded, told)


def test_names_of_any_length_fit() -> None:
    named = golf()
    for length in range(40):
        attributes = tuple(
            replace(each, name=each.name[0] * length) for each in named.version.attributes
        )
        loaded = golf(attributes=attributes)
        told = tell_by_hand(loaded.compiled, np.full((3, 3), np.nan))

        assert by_kernel(loaded, told) == by_hand(loaded, told)
        assert lists_of(loaded, told) == by_hand_unknown(loaded, told)


def lists_of(loaded: Loaded, told: Told) -> list[list[str]]:
    lists: list[list[str]] = orjson.loads(
        listed(make_wording(loaded.version), natives().write_unknown, told)
    )
    return lists


def by_hand_unknown(loaded: Loaded, told: Told) -> list[list[str]]:
    return [orjson.loads(row)["unknown"] for row in by_hand(loaded, told)]


@given(st.data())
def test_what_is_unknown_is_listed_as_it_is_by_hand(data: st.DataObject) -> None:
    loaded = data.draw(loaded_trees())
    values = data.draw(matrices(loaded.compiled.attributes, 12))
    told = tell(teller_of(loaded.compiled), values)

    assert lists_of(loaded, told) == by_hand_unknown(loaded, told)
