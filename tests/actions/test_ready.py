"""Ready: what is made ahead is what would be made each time, within bounds."""

import numpy as np
import orjson
from hypothesis import given

from service.actions.load import Loaded
from service.actions.predict import Answer, by_row
from service.actions.ready import Texts, make_ready
from service.tree.predict import told_at
from tests.actions.golf import golf
from tests.actions.odd_trees import loaded_trees


@given(loaded_trees())
def test_a_leaf_is_told_as_the_rows_that_end_there_are(loaded: Loaded) -> None:
    leaves = np.flatnonzero(loaded.compiled.tree.is_leaf)
    rows = by_row(Answer(loaded, told_at(loaded.compiled, leaves), None, ()))
    asked = [*leaves.tolist(), *leaves.tolist()]

    assert make_ready(loaded).texts.of(asked) == [*map(orjson.dumps, rows)] * 2


def test_not_more_texts_are_kept_than_there_is_room_for() -> None:
    loaded = golf()
    leaves = np.flatnonzero(loaded.compiled.tree.is_leaf).tolist()
    roomy, narrow = Texts(loaded, 10_000), Texts(loaded, 1)

    assert roomy.of(leaves) == narrow.of(leaves) == narrow.of(leaves)
    assert roomy.n_kept == len(leaves)
    assert narrow.n_kept == 0


def test_what_a_ready_version_takes_is_about_three_times_its_tree_at_the_most() -> None:
    ready = make_ready(golf())
    types = ready.form.n_bytes if ready.form is not None else 0

    assert ready.n_bytes - types < 3 * ready.loaded.compiled.n_bytes
    assert ready.n_bytes == make_ready(golf()).n_bytes
