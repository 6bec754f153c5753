"""Wording: what native code writes is, letter for letter, what is written by hand."""

from dataclasses import replace

import numpy as np
import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.actions.load import Loaded
from service.actions.predict import Answer, by_row
from service.actions.wording import make_wording, worded
from service.tree.tell import Told, predictions_of, tell, tell_by_hand
from tests.actions.golf import golf
from tests.actions.odd_trees import loaded_trees
from tests.natives import natives, teller_of
from tests.strategies import matrices


def by_hand(loaded: Loaded, told: Told) -> list[bytes]:
    found = predictions_of(loaded.compiled, told)
    return [orjson.dumps(row) for row in by_row(Answer(loaded, found, None, ()))]


def lost(told: Told) -> Told:
    """Only those for which a null mattered, and which have an answer."""
    return told.some(np.flatnonzero((told.ends < 0) & (told.leaves > 0)))


@given(st.data())
def test_rows_are_worded_as_they_are_by_hand(data: st.DataObject) -> None:
    loaded = data.draw(loaded_trees())
    values = data.draw(matrices(loaded.compiled.attributes, 12))
    for told in (tell(teller_of(loaded.compiled), values), tell_by_hand(loaded.compiled, values)):
        some = lost(told)
        found = worded(make_wording(loaded.version), natives().write_rows, some)

        assert found == by_hand(loaded, some)


def test_very_long_names_are_written_some_rows_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = golf()
    told = lost(tell_by_hand(loaded.compiled, np.full((20, 3), np.nan)))
    monkeypatch.setattr("service.actions.wording.MOST_BYTES", 1)

    assert worded(make_wording(loaded.version), natives().write_rows, told) == by_hand(loaded, told)


def test_names_of_any_length_fit() -> None:
    named = golf()
    for length in range(40):
        attributes = tuple(
            replace(each, name=each.name[0] * length) for each in named.version.attributes
        )
        loaded = golf(attributes=attributes)
        told = lost(tell_by_hand(loaded.compiled, np.full((3, 3), np.nan)))
        found = worded(make_wording(loaded.version), natives().write_rows, told)

        assert found == by_hand(loaded, told)
