"""A file is read by a process of its own, whatever comes."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from threading import Thread
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from service.errors import InvalidFile, LimitReached, Misfit, NoRoom
from service.files import child
from service.files.child import read_upload
from service.files.reading.outcome import Broken, dump_outcome, load_outcome
from tests.files.uploads import as_csv, as_parquet, order, packed

DATA = as_csv(["a", "b"], [[str(n), f"t{n % 3}"] for n in range(100)])
AMPLE = {"seconds": 60.0, "memory_bytes": 500_000_000}


@pytest.fixture
def target() -> Iterator[BinaryIO]:
    with TemporaryFile() as file:
        yield file


def sent(data: bytes) -> BinaryIO:
    file = TemporaryFile()  # noqa: SIM115
    file.write(data)
    file.flush()
    return file


def endless() -> BinaryIO:
    """A file that takes minutes to read: 20 GB of blank lines in as many MB."""
    return sent(packed(b"a,b\n1,2\n") + 20_000 * packed(b"\n" * 1_000_000))


def readers(parent: int) -> list[int]:
    """The processes that read files for this one."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it may be gone
            is_child = f"PPid:\t{parent}\n" in (process / "status").read_text()
            if is_child and b"service.files" in (process / "cmdline").read_bytes():
                found.append(int(process.name))
    return found


def wait_until(is_so: Callable[[], Any]) -> Any:
    """What is so, once it is."""
    end = time.monotonic() + 20
    while not (found := is_so()):
        assert time.monotonic() < end
        time.sleep(0.02)
    return found


def end_reader(number: signal.Signals) -> None:
    (reader,) = wait_until(lambda: readers(os.getpid()))
    os.kill(reader, number)


def test_a_file_is_read_into_the_target(target: BinaryIO) -> None:
    with sent(packed(DATA)) as source:
        found = read_upload(source, target, order(categorical=("a",)), **AMPLE)

    assert ("csv", 100, 2, ()) == (found.format, found.n_rows, found.first_line, found.warnings)
    assert {"t0": 34, "t1": 33, "t2": 33} == found.columns[1].values
    assert {"a": pa.string(), "b": pa.string()} == {
        each.name: each.type for each in pq.read_schema(target)
    }


def test_warnings_and_refusals_come_through_as_they_are(target: BinaryIO) -> None:
    data = b"a,b\n1,2\n2,3\nx,4\n"
    with sent(data) as source:
        (warning,) = read_upload(source, target, order(), **AMPLE).warnings
        with pytest.raises(InvalidFile) as invalid:
            read_upload(source, target, order(numeric=("a",)), **AMPLE)
        with pytest.raises(LimitReached, match="BOUGH_MAX_DATASET_COLUMNS"):
            read_upload(source, target, order(max_columns=1), **AMPLE)

    assert (4, "a") == (warning.line, warning.column)
    assert "Some values cannot be used." == str(invalid.value)
    assert (Misfit(4, "a", "'x' is no number"),) == invalid.value.misfits


def test_a_file_that_takes_too_much_memory_is_refused(target: BinaryIO) -> None:
    texts = pa.DictionaryArray.from_arrays(pa.array([0] * 1000, pa.int32()), ["x" * 1_000_000])
    with sent(as_parquet({"a": texts})) as source, pytest.raises(LimitReached) as raised:
        read_upload(source, target, order(max_bytes=10**10), 60.0, 60_000_000)

    assert "more than 60000000 bytes of memory" in str(raised.value)
    assert "BOUGH_INGEST_MEMORY_BYTES" in str(raised.value)


def test_a_wide_file_takes_no_more_memory_than_a_long_one(target: BinaryIO) -> None:
    names = [f"column {number}" for number in range(2000)]
    with sent(as_csv(names, [["0.123456789"] * 2000] * 150)) as source:
        assert 150 == read_upload(source, target, order(), 60.0, 300_000_000).n_rows


def test_a_file_that_takes_too_long_is_refused_and_nobody_goes_on_with_it(target: BinaryIO) -> None:
    began = time.monotonic()
    with sent(DATA) as source, pytest.raises(LimitReached) as raised:
        read_upload(source, target, order(), 0.05, 0)

    assert "more than 0.05 seconds" in str(raised.value)
    assert "BOUGH_INGEST_SECONDS" in str(raised.value)
    assert time.monotonic() - began < 5
    assert [] == readers(os.getpid())


def test_no_room_for_the_table_is_told_as_such() -> None:
    with sent(DATA) as source, Path("/dev/full").open("wb") as full, pytest.raises(NoRoom):
        read_upload(source, full, order(), **AMPLE)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_a_reader_that_is_killed_makes_a_file_that_cannot_be_read(
    target: BinaryIO, number: signal.Signals, caplog: pytest.LogCaptureFixture
) -> None:
    with endless() as source:
        Thread(target=end_reader, args=(number,)).start()
        with pytest.raises(InvalidFile, match="its reader broke down"):
            read_upload(source, target, order(max_bytes=10**12), **AMPLE)

    assert [-number] == [getattr(each, "exit_code", None) for each in caplog.records]


def test_a_reader_ends_with_the_process_that_wants_the_file() -> None:
    wanting = (
        "import sys; from service.files.child import read_upload;"
        "from service.files.records import Ingestion;"
        "order = Ingestion(max_bytes=10**12, max_cells=10**9, max_columns=9);"
        "read_upload(sys.stdin.buffer, open('/dev/null', 'wb'), order, 60, 0)"
    )
    with endless() as source:
        parent = subprocess.Popen([sys.executable, "-c", wanting], stdin=source)
        (reader,) = wait_until(lambda: readers(parent.pid))
        parent.kill()
        parent.wait()
        wait_until(lambda: not Path(f"/proc/{reader}").exists())


def test_an_error_that_nobody_foresaw_is_logged_without_its_text(
    target: BinaryIO, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    outcome = Broken("KeyError", ("ingest.py:1 ingest",))
    monkeypatch.setattr(child, "READER", ("-c", f"print({dump_outcome(outcome).decode()!r})"))
    with sent(DATA) as source, pytest.raises(InvalidFile, match="its reader broke down"):
        read_upload(source, target, order(), **AMPLE)

    (record,) = caplog.records
    assert ("reading a file broke", "KeyError") == (record.message, vars(record)["exception"])


def test_what_a_reader_prints_comes_into_no_log(
    target: BinaryIO, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    code = "import sys; print('secret', file=sys.stderr); print('secret')"
    monkeypatch.setattr(child, "READER", ("-c", code))
    with sent(DATA) as source, pytest.raises(InvalidFile):
        read_upload(source, target, order(), **AMPLE)

    assert "secret" not in "".join(capfd.readouterr())


def test_secrets_of_the_environment_are_not_handed_on(
    target: BinaryIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BOUGH_DATABASE_URL", "postgresql://secret")
    code = (
        "import os, sys;"
        "from service.files.reading.outcome import Broken, dump_outcome;"
        "sys.stdout.buffer.write(dump_outcome(Broken(' '.join(os.environ), ())))"
    )
    monkeypatch.setattr(child, "READER", ("-c", code))
    records: list[Any] = []
    monkeypatch.setattr(child.logger, "error", lambda _, extra: records.append(extra))
    with sent(DATA) as source, pytest.raises(InvalidFile):
        read_upload(source, target, order(), **AMPLE)

    assert "BOUGH" not in records[0]["exception"]


@pytest.mark.parametrize("sent_", [b"", b"{", b"[]", b"{}", b'{"Ingested": {}}', b'{"Else": 1}'])
def test_half_an_outcome_is_none(sent_: bytes) -> None:
    assert None is load_outcome(sent_)


def test_the_process_that_wants_a_file_needs_no_library_to_read_it() -> None:
    code = "import sys, service.files.child; sys.exit('pyarrow' in sys.modules)"

    assert 0 == subprocess.run([sys.executable, "-P", "-c", code], check=False).returncode
