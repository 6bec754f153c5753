"""Ready versions: with all that is made once, so that an answer takes next to nothing."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import orjson

from service.actions.form import Form, make_codes, make_form
from service.actions.load import Loaded
from service.actions.predict import Answer, by_row
from service.actions.reading import Reader, make_reader
from service.actions.wording import Wording, make_wording
from service.actions.wording_columns import ColumnWording, make_column_wording
from service.tree.costs import has_costs
from service.tree.few import Few, make_few
from service.tree.predict import told_at

TEXT_BYTES = 150  # that a text takes beside its characters


@dataclass(frozen=True)
class Ready:
    """A version in memory, ready to answer."""

    loaded: Loaded
    form: Form | None  # None where there is none, or answers say what each row paid
    reader: Reader | None  # by which rows are read sooner, where there are natives
    few: Few
    texts: "Texts"
    wording: Wording
    columns: ColumnWording
    head: bytes  # of every answer, up to the predictions

    @property
    def n_bytes(self) -> int:
        """About how much memory this takes, or may come to take."""
        parts = (self.loaded.compiled, self.loaded.teller, self.few, self.form, self.reader)
        return sum(part.n_bytes for part in parts if part is not None) + self.texts.max_bytes


class Texts:
    """What each leaf answers, as JSON, made when it is first needed and kept within bounds."""

    def __init__(self, loaded: Loaded, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self._loaded = loaded
        self._kept: dict[int, bytes] = {}
        self._bytes = 0

    def of(self, leaves: Sequence[int]) -> list[bytes]:
        """The text of each of these leaves."""
        kept = self._kept
        try:
            return list(map(kept.__getitem__, leaves))
        except KeyError:
            self._make(kept, sorted(set(leaves) - kept.keys()))
        return list(map(kept.__getitem__, leaves))

    @property
    def n_kept(self) -> int:
        """How many are kept."""
        return len(self._kept)

    def _make(self, kept: dict[int, bytes], leaves: Sequence[int]) -> None:
        told = told_at(self._loaded.compiled, np.array(leaves, dtype=np.int64))
        made = written(by_row(Answer(self._loaded, told, None, ())))
        kept.update(zip(leaves, made, strict=True))
        self._bytes += sum(map(len, made)) + TEXT_BYTES * len(made)
        if self._bytes > self.max_bytes:  # begin anew: who is asked for often is soon there again
            self._kept, self._bytes = {}, 0


def written(answers: Iterable[object]) -> list[bytes]:
    """Each of these answers as JSON."""
    # copied, since orjson leaves each in a block of 4 KB
    return [bytes(memoryview(orjson.dumps(answer))) for answer in answers]


def make_ready(loaded: Loaded) -> Ready:
    """The version with all that can be made ahead."""
    version, compiled = loaded.version, loaded.compiled
    head = {"model": version.model, "version": version.number, "task": version.task}
    codes = make_codes(version.attributes)
    form = None
    if not has_costs(version.attributes):
        form = make_form(version.attributes, loaded.not_inputs, codes)
    return Ready(
        loaded=loaded,
        form=form,
        reader=None if form is None else make_reader(version.attributes, loaded.natives),
        few=make_few(compiled, codes),
        texts=Texts(loaded, compiled.n_bytes * 7 // 10),
        wording=make_wording(version),
        columns=make_column_wording(version),
        head=orjson.dumps(head)[:-1] + b',"predictions":',
    )
