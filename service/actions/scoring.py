"""Scoring: a version predicts every row of a dataset, and the answers become a file."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from service.actions.describe import describe
from service.actions.flat import ROW, flat_columns
from service.actions.load import Loaded
from service.actions.predict import Answer, answer_to, by_row
from service.actions.results import Report, Scored
from service.actions.score import ScoreRequest, read_score
from service.errors import Fault
from service.files.columns import Columns, to_column
from service.files.place import Place, reachable
from service.files.results import WRITERS
from service.points import passing
from service.storage.records import Progress
from service.tree.inputs import encode_inputs
from service.tree.table import Table
from service.tree.walk import walk

PLACE = ("dataset",)  # where an order to score names its dataset
BATCH = 20_000  # rows at a time: enough to be fast, few enough to need little memory


def score(
    body: bytes, _max_nodes: int, report: Report, *, loaded: Loaded, place: Place, name: str
) -> Scored:
    """The answers of a version to all rows of a dataset, in a file of this name."""
    request = read_score(body)
    report(Progress(stage="read"))
    with (
        place.verified(request.source.file, request.source.checksum) as opened,
        place.spooled() as target,
    ):
        columns, strangers = Columns(opened), Counter[str]()
        with reachable():
            answers = _answers(request, loaded, columns, strangers, report)
            WRITERS[request.format](target, answers)
            target.flush()
        report(Progress(1.0, "save", 0, columns.n_rows))
        passing("child-scored")
        file = describe(name, request.format, target)
        place.keep(name, target)
        return Scored(file, columns.n_rows, tuple(_told(strangers)))


def _told(strangers: Mapping[str, int]) -> Iterator[Fault]:
    for name, n_rows in strangers.items():
        detail = f"{n_rows} rows have a category of {name!r} that training did not know: it is null"
        yield Fault("/dataset", detail)


@dataclass(frozen=True)
class Answered:
    """The answer to some rows of the dataset."""

    first_row: int
    kept: Mapping[str, Any]
    answer: Answer

    def columns(self) -> dict[str, Any]:
        """The answers, a column each; what is nested has names joined by dots."""
        return flat_columns(self.answer, self.first_row)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The answers, an object each, as /predict gives them."""
        told = by_row(self.answer)
        return ({ROW: row} | each for row, each in enumerate(told, self.first_row))


def _answers(
    request: ScoreRequest,
    loaded: Loaded,
    columns: Columns,
    strangers: "Counter[str]",
    report: Report,
) -> Iterator[Answered]:
    """The answers, some rows at a time; whoever waits is told after each, strangers are counted."""
    inputs = [each.name for each in loaded.version.attributes if each.name in columns]
    done = 0
    for batch in columns.batches(list(dict.fromkeys([*inputs, *request.keep])), BATCH):
        raw = {name: to_column(batch[name]) for name in inputs}
        n_rows = len(next(iter(batch.values())))
        table = Table(raw, n_rows, PLACE, first_line=request.first_line, first_row=done)
        encoded = encode_inputs(loaded.compiled, table, (), strict=request.strict)
        strangers.update({name: len(rows) for name, rows in encoded.stranger_rows.items()})
        answer = answer_to(loaded, encoded.values, request.missing, encoded.strangers, walk)
        yield Answered(done, {name: batch[name] for name in request.keep}, answer)
        done += n_rows
        report(Progress(done / columns.n_rows, "predict", 0, done))
