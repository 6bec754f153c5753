"""A dataset is scored row by row as /predict answers, whatever the format of the result."""

import csv
from contextlib import nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.actions import scoring
from service.actions.predict import by_row, predict
from service.actions.request import Source
from service.actions.score import ScoreRequest, check_score, write_score
from service.errors import InvalidData, NoRoom
from service.files.place import Damaged, Place, checksum_of, open_place
from service.settings import Settings
from service.storage.records import StoredDataset, StoredFile
from service.tree.summary import ColumnSummary
from service.tree.table import table_of_rows
from tests.actions.golf import golf

FULL = Path("/dev/full")  # the disk on which there is never any room
DAYS: list[dict[str, Any]] = [
    {"day": f"d{number}", "outlook": outlook, "temperature": temperature, "humidity": humidity}
    for number, (outlook, temperature, humidity) in enumerate(
        [
            ("sunny", 40.0, 70.0),
            (None, 40.0, 70.0),
            ("rain", None, None),
            ("fog", 60.5, 95.0),
            (None, None, None),
        ]
        * 3
    )
]


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return open_place(Settings(data=tmp_path))


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scoring, "BATCH", 4)


def test_each_row_is_answered_as_predict_answers_it(place: Place) -> None:
    told = [orjson.loads(line) for line in scored(place, "ndjson").splitlines()]

    table = table_of_rows([without_day(day) for day in DAYS], ("rows",), 1000)
    answers = by_row(predict(golf(), table, "weighted", strict=False))
    expected = [
        {"row": row} | orjson.loads(orjson.dumps(answer)) | {"day": f"d{row}"}
        for row, answer in enumerate(answers)
    ]
    assert expected == told


@pytest.mark.parametrize("missing", ["weighted", "none"])
def test_csv_and_parquet_say_the_same(place: Place, missing: str) -> None:
    wanted = [orjson.loads(line) for line in scored(place, "ndjson", missing).splitlines()]
    lines = list(csv.DictReader(scored(place, "csv", missing).decode().splitlines()))
    rows = pq.read_table(pa.BufferReader(scored(place, "parquet", missing))).to_pylist()

    assert len(DAYS) == len(lines) == len(rows)
    for each, line, row in zip(wanted, lines, rows, strict=True):
        assert (each["class"] or "", str(each["row"]), each["day"]) == (
            line["class"],
            line["row"],
            line["day"],
        )
        assert (each["class"], each["unknown"], each["certain"]) == (
            row["class"],
            row["unknown"],
            row["certain"],
        )
        assert ";".join(each["unknown"]) == line["unknown"]
        probability = each["probabilities"] and each["probabilities"]["may play"]
        assert probability == row["probabilities.may play"]
        assert ("" if probability is None else probability) == (
            line["probabilities.may play"] and float(line["probabilities.may play"])
        )


@pytest.mark.parametrize(
    ("changes", "pointer", "detail"),
    [
        ({"columns": ("day",)}, "/dataset", "has no column that the model knows"),
        ({"strict": True, "columns": ("humidity",)}, "/dataset", "has no column 'outlook'"),
        (
            {"keep": ("noon",), "columns": ("outlook",)},
            "/keep/0",
            "the dataset has no column 'noon'",
        ),
        ({"columns": ("outlook", "class")} | {"keep": ("class",)}, "/keep/0", "of its own"),
        ({"columns": ("outlook", "bounds")} | {"keep": ("bounds",)}, "/keep/0", "of its own"),
        ({}, "/dataset", "line 9, column 'humidity': must be a number"),
    ],
)
def test_what_cannot_be_scored_is_told_before(
    changes: dict[str, Any], pointer: str, detail: str
) -> None:
    names = changes.pop("columns", ("day", "humidity"))
    source = Source("an id", "days.parquet", "")
    request = ScoreRequest(source, 2, "csv", changes.pop("keep", ()), **changes)

    with pytest.raises(InvalidData) as refused:
        check_score(request, golf().version, a_dataset(names))

    assert pointer == refused.value.faults[0].pointer
    assert detail in refused.value.faults[0].detail


@pytest.mark.parametrize(
    ("text", "format_", "refused"),
    [
        ("250.00", "csv", "cannot be scored"),
        ("+5", "csv", "cannot be scored"),
        ("250.00", "parquet", None),  # where a number never was a text
        ("250.5", "csv", None),
        ("007", "csv", None),  # it would have made the column one of categories
        ("NaN", "csv", None),  # likewise
    ],
)
def test_categories_that_are_no_longer_what_they_were_as_numbers_are_not_scored(
    text: str, format_: str, refused: str | None
) -> None:
    column = ColumnSummary(name="outlook", kind="numeric", nulls=0, distinct=2)
    dataset = replace(a_dataset(()), columns=(column,), format=format_)
    outlook, *others = golf().version.attributes
    version = replace(golf().version, attributes=(replace(outlook, values=("1", text)), *others))
    request = ScoreRequest(Source("an id", "days.parquet", ""), 2, "csv")

    with pytest.raises(InvalidData, match=refused) if refused else nullcontext():
        check_score(request, version, dataset)


def test_a_result_that_finds_no_room_is_told(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.files.place.TemporaryFile", lambda **_: FULL.open("w+b"))

    for format_ in ("csv", "ndjson", "parquet"):
        with pytest.raises(NoRoom):
            scored(place, format_)


def test_if_it_is_strict_a_category_never_seen_names_its_line(place: Place) -> None:
    with pytest.raises(InvalidData) as refused:
        scored(place, "csv", strict=True)

    assert "line 5, column 'outlook': is no category of 'outlook'" == refused.value.faults[0].detail


def test_categories_that_training_did_not_know_are_counted(place: Place) -> None:
    result = scored_as(place, "csv")

    assert [("/dataset", "3 rows have a category of 'outlook' that training did not know")] == [
        (each.pointer, each.detail.partition(":")[0]) for each in result.warnings
    ]


def test_a_file_that_was_changed_is_not_scored(place: Place) -> None:
    with pytest.raises(Damaged):
        scored(place, "csv", checksum="0" * 64)


def scored(place: Place, format_: str, missing: str = "weighted", **changes: Any) -> bytes:
    result = scored_as(place, format_, missing, **changes)
    with place.open("scores") as opened:
        content = opened.read()
    assert (len(content), len(DAYS)) == (result.file.n_bytes, result.n_rows)
    return content


def scored_as(
    place: Place, format_: str, missing: str = "weighted", **changes: Any
) -> scoring.Scored:
    file = BytesIO()
    pq.write_table(pa.Table.from_pylist(changes.pop("days", DAYS)), file)
    place.keep("days.parquet", BytesIO(file.getvalue()))
    file.seek(0)
    source = Source("an id", "days.parquet", changes.pop("checksum", checksum_of(file)))
    request = ScoreRequest(source, 2, format_, changes.pop("keep", ("day",)), missing, **changes)
    told: list[Any] = []
    result = scoring.score(
        write_score(request), 0, told.append, loaded=golf(), place=place, name="scores"
    )
    assert (1.0, len(DAYS)) == (told[-1].fraction, told[-1].rows)
    return result


def a_dataset(names: tuple[str, ...]) -> StoredDataset:
    columns = tuple(
        ColumnSummary(name=name, kind="categorical", nulls=0, distinct=9, first_text=7)
        for name in names
    )
    return StoredDataset(
        id="an id",
        name=None,
        format="csv",
        n_rows=9,
        columns=columns,
        warnings=(),
        first_line=2,
        n_bytes=9,
        checksum="",
        file=StoredFile("days.parquet", "parquet", 9, ""),
        created_at=datetime(2026, 11, 16, tzinfo=UTC),
    )


def without_day(day: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in day.items() if name != "day"}
