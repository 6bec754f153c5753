"""Files that nobody should send: each is refused with a sentence, or it can be read after all."""

import gzip
import io
import random
import re
import zlib

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.errors import InvalidFile, LimitReached
from service.files.reading.look import LONGEST_TOLD
from tests.files.uploads import (
    as_csv,
    as_ndjson,
    as_parquet,
    columns,
    packed,
    read,
    refused,
)

PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\1\0\0\0\1\x08\6\0\0\0\x1f\x15\xc4\x89"
CSV = as_csv(["a", "b", "c"], [[str(n / 4), 'x "y", z', f"t{n}"] for n in range(40)])
NDJSON = as_ndjson([{"a": n, "b": "é" * n, "c": None if n % 3 else True} for n in range(30)])
PARQUET = as_parquet({"a": [1, 2, None] * 20, "b": ["x", "y", None] * 20, "c": [0.5, 1, 2] * 20})
FORMATS = st.sampled_from([None, "csv", "ndjson", "parquet"])


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "The file is empty."),
        (packed(b""), "The file is empty."),
        (b"a,b\n", "The file has no rows."),
        (packed(CSV)[:-1], "The gzip stream ends too early: some of it was lost."),
        (packed(CSV)[:60], "The gzip stream ends too early: some of it was lost."),
        (packed(CSV)[:5], "The gzip stream ends too early: some of it was lost."),
        (b"\x1f\x8b", "The gzip stream ends too early: some of it was lost."),
        (b"\x1f\x8bnonsense", "The gzip stream is damaged."),
        (packed(CSV)[:-8] + b"\0" * 8, "The gzip stream is damaged."),  # another checksum
        (packed(CSV) + b"more", "The gzip stream is damaged."),
        (PNG, "The file is a PNG image."),
        (b"PK\x03\x04...", "The file is a ZIP archive, as spreadsheets are too."),
        ("a,b\n1,2\n".encode("utf-16"), "The file is UTF-16; save it as UTF-8."),
        ("a,b\n1,2\n".encode("utf-16-be"), "The name of column 1 holds the character U+0000."),
        ("a,é\n1,2\n".encode("latin-1"), "The header cannot be read: it is not UTF-8."),
        (b"a,b\n1,2\n\xff,3\n", "Line 3 cannot be read: it is not UTF-8."),
        (b"a,b\n1,2\n1,2,3\n", "Line 3 cannot be read: it has 3 values, but the header has 2."),
        (b"a,a\n1,2\n", "2 columns have the same name 'a': columns 1, 2."),
        (PARQUET[:-100], "The Parquet file is damaged, or some of it was lost."),
        (b"PAR1", "The Parquet file is damaged, or some of it was lost."),
        (b"PAR1" + b"\0" * 100 + b"PAR1", "The Parquet file is damaged, or some of it was lost."),
        (b"a" * 50_000_000, "The header cannot be read: the row that begins here is longer than"),
        (b"a,b\n1," + b"x" * 50_000_000, "Line 2 cannot be read: the row that begins here is"),
        (b'a,b\n1,"' + b"x\n" * 5_000_000, "Line 2 cannot be read: the row that begins here is"),
        (b'{"a": "' + b"x" * 50_000_000, "Line 1 is longer than 2097152 bytes."),
        (b'{"a": ' + b"[" * 1_000_000, "Line 1 is no JSON: "),
        (b"\n" * 5_000_000, "The header cannot be read: it does not end."),
    ],
)
def test_a_corrupt_file_is_refused_with_a_sentence(data: bytes, sentence: str) -> None:
    assert str(refused(data)).startswith(sentence)


def test_ten_thousand_columns_are_too_many() -> None:
    names = [f"c{n}" for n in range(10_000)]
    data = as_csv(names, [["1"] * 10_000])

    lines = as_ndjson([dict.fromkeys(names, 1)])

    assert "more than 2000 columns" in str(refused(data, LimitReached))
    assert "more than 2000 columns" in str(refused(lines, LimitReached))
    assert 2000 == len(columns(as_csv(names[:2000], [["1"] * 2000])))


def test_a_million_commas_are_too_many_columns() -> None:
    assert "more than 2000 columns" in str(refused(b"," * 1_000_000, LimitReached))


@pytest.mark.parametrize("start", [b"a,b\n", b'{"a": 1}\n'])
def test_a_gzip_bomb_ends_at_the_limit(start: bytes) -> None:
    pack = zlib.compressobj(9, wbits=31)
    bomb = pack.compress(start) + b"".join(pack.compress(b"\n" * 1_000_000) for _ in range(50))

    error = refused(bomb + pack.flush(), LimitReached, max_bytes=20_000_000)

    assert len(bomb) < 100_000
    assert "more than 20000000 bytes when it is unpacked" in str(error)
    assert "BOUGH_MAX_DATASET_BYTES" in str(error)


def test_a_parquet_bomb_ends_at_the_limit() -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 100_000, pa.int32()), ["x" * 1_000_000])
    bomb = as_parquet({"a": texts})

    assert len(bomb) < 1_100_000
    assert "when it is unpacked" in str(refused(bomb, LimitReached))


@pytest.mark.parametrize("data", [CSV, NDJSON])
def test_gzip_is_looked_through_also_in_several_members(data: bytes) -> None:
    expected = columns(data)

    assert expected == columns(packed(data))
    assert expected == columns(packed(data[:100]) + packed(b"") + packed(data[100:]) + b"\0" * 7)


def test_a_name_does_not_make_a_sentence_endless() -> None:
    error = refused(as_csv(["x" * 900] * 2, [["1", "2"]]))

    assert len(str(error)) < 60 + LONGEST_TOLD


@given(st.binary(max_size=200), FORMATS)
def test_random_bytes_are_read_or_refused(data: bytes, format_: str | None) -> None:
    assert_read_or_refused(data, format_)


@given(st.sampled_from([CSV, NDJSON, PARQUET, packed(CSV)]), FORMATS, st.integers(0, 10**9))
def test_a_file_in_which_some_bytes_changed_is_read_or_refused(
    data: bytes, format_: str | None, seed: int
) -> None:
    dice = random.Random(seed)
    changed = bytearray(data)
    for _ in range(dice.randint(1, 4)):
        place = dice.randrange(len(changed))
        length = dice.choice([0, 0, 1, 1, 5])
        changed[place : place + length] = dice.choice([b"", b"\0", b'"', b"\n", b"\xff", b"{,"])

    assert_read_or_refused(bytes(changed), format_)


def assert_read_or_refused(data: bytes, format_: str | None) -> None:
    try:
        read(data, format=format_)
    except (InvalidFile, LimitReached) as error:
        told = str(error)
    else:
        told = "It was read."
    assert re.fullmatch(r"[A-Z0-9].+\.", told)


def test_the_same_file_is_read_the_same_way_packed_by_whomever() -> None:
    target = io.BytesIO()
    with gzip.GzipFile("table.csv", "wb", 9, target) as file:
        file.write(CSV)

    assert columns(CSV) == columns(target.getvalue())
