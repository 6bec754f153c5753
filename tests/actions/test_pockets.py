"""Pockets: each short text has a place of its own, or there is no pocket."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.actions.pockets import MOST_KEYS, ROOMIEST, Pockets, key_of, make_pockets
from service.tree.kernels.shapes import FACTOR, LONGEST_KEY, NO_KEY, PLACES, POCKET, SHIFT

texts = st.text(min_size=0, max_size=10).map(str.encode)
books = st.lists(st.lists(texts, unique=True, max_size=40), min_size=1, max_size=4)


def looked_up(pockets: Pockets, book: int, text: bytes) -> float | None:
    """The code of a text, as a kernel finds it."""
    line = pockets.lines[POCKET * book : POCKET * (book + 1)].tolist()
    place = line[PLACES] + ((key_of(text) * line[FACTOR] & NO_KEY) >> line[SHIFT])
    key, code = pockets.pairs[2 * place : 2 * place + 2]
    return float(code.view(np.float64)) if key == key_of(text) else None


@given(books)
def test_short_texts_are_found_and_others_are_not(named: list[list[bytes]]) -> None:
    pockets = make_pockets([dict(enumerate(book)) for book in named])
    for number, book in enumerate(named):
        short = {text: code for code, text in enumerate(book) if len(text) <= LONGEST_KEY}
        found = {text: looked_up(pockets, number, text) for text in short}

        assert found == short or not any(code is not None for code in found.values())
        for other in (b"", b"a", b"\0", b"stranger"[:LONGEST_KEY]):
            assert other in short or looked_up(pockets, number, other) is None


STATES = (
    "AL AK AZ AR CA CO CT DE FL GA HI ID IL IN IA KS KY LA ME MD MA MI MN MS MO MT NE NV NH NJ NM"
    " NY NC ND OH OK OR PA RI SC SD TN TX UT VT VA WA WV WI WY"
)
USUAL = {
    "letters and numbers": [f"v{number}" for number in range(100)],
    "numbers": [f"{number}" for number in range(100)],
    "months": ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    "days": ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"],
    "states": STATES.split(),
    "truths": ["true", "false"],
    "letters": [*"abcdefghijklmnopqrstuvwxyz"],
}


@pytest.mark.parametrize("names", USUAL.values(), ids=USUAL)
def test_what_is_usual_has_a_pocket(names: list[str]) -> None:
    for n_texts in range(1, len(names) + 1):
        some = [name.encode() for name in names[:n_texts]]
        pockets = make_pockets([dict(enumerate(some))])

        assert [looked_up(pockets, 0, name) for name in some] == [*range(n_texts)]
        assert len(pockets.pairs) <= 2 * ROOMIEST * n_texts


def test_very_many_texts_have_none() -> None:
    pockets = make_pockets([{code: f"{code}".encode() for code in range(MOST_KEYS + 1)}])

    assert looked_up(pockets, 0, b"17") is None
    assert len(pockets.pairs) == 4
