"""`bough train file.csv --target y`: from a file to a version, without a server."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from service.cli import main
from service.storage import datasets, jobs
from service.storage.engine import open_store
from service.storage.records import JobState
from service.storage.versions import fetch_version
from tests.textbook import melons

COMMAND = [sys.executable, "-m", "service.cli", "train"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    rows = melons("2.0")
    lines = [",".join(rows[0]), *(",".join(map(str, row.values())) for row in rows)]
    path = tmp_path / "西 瓜.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def test_a_file_becomes_a_version_whose_summary_is_told(file: Path, tmp_path: Path) -> None:
    ended = trained(file, "--target", "好瓜", "--preset", "id3", data=tmp_path)

    assert 0 == ended.returncode, ended.stderr
    lines = ended.stdout.splitlines()
    assert "西 瓜.csv: 17 rows, 7 columns" == lines[0]
    assert "西瓜, version 1: predicts 好瓜" in lines
    assert re.search(r"17 rows, 6 attributes, classification\n  \d+ nodes, \d+ leaves, depth \d",
                     ended.stdout)  # fmt: skip
    assert "on rows held out" in ended.stdout
    store = open_store(f"sqlite:///{tmp_path}/bough.db")
    with store.reading() as session:
        assert () == datasets.list_datasets(session, limit=9).items  # of the file nothing is kept
        assert ("纹理",) < tuple(each.name for each in fetch_version(session, "西瓜", 1).attributes)
    store.dispose()


def test_a_bar_shows_how_far_it_is(file: Path, tmp_path: Path) -> None:
    ours, its = os.openpty()
    command = [*COMMAND, str(file), "--target", "好瓜", "--data", str(tmp_path), "--model", "m"]
    with subprocess.Popen(command, stdout=its, stderr=its) as process:
        os.close(its)
        shown = b""
        while chunk := _read(ours):
            shown += chunk
    os.close(ours)

    assert 0 == process.returncode, shown.decode()
    assert "Training  [" in shown.decode()
    assert "100%" in shown.decode()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--target", "nothing"], "the dataset has no column 'nothing'"),
        (["--target", "好瓜", "--ignore", "nothing"], "the dataset has no column 'nothing'"),
        (["--target", "好瓜", "--model", "a/b"], "must be 1 to 100 characters"),
    ],
)
def test_what_cannot_be_trained_is_told_in_a_sentence(
    file: Path, tmp_path: Path, arguments: list[str], told: str
) -> None:
    ended = trained(file, *arguments, data=tmp_path)

    assert 1 == ended.returncode
    assert told in ended.stderr
    assert "Traceback" not in ended.stderr
    store = open_store(f"sqlite:///{tmp_path}/bough.db")
    with store.reading() as session:
        assert () == datasets.list_datasets(session, limit=9).items
    store.dispose()


def test_a_file_that_cannot_be_read_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("a,b\n1,x\n2\n")

    ended = trained(path, "--target", "b", data=tmp_path)

    assert 1 == ended.returncode
    assert "line 3" in ended.stderr


def test_without_its_worker_it_does_not_wait_for_ever(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.cli.train.WORKER", ("-c", ""))

    told = CliRunner().invoke(
        main, ["train", str(file), "--target", "好瓜", "--data", str(tmp_path)]
    )

    assert 1 == told.exit_code
    assert "The worker has ended by itself." in told.output
    store = open_store(f"sqlite:///{tmp_path}/bough.db")
    with store.reading() as session:
        (job,) = jobs.list_jobs(session, limit=9).items
    assert JobState.CANCELLED == job.state
    store.dispose()


def trained(file: Path, *arguments: str, data: Path) -> "subprocess.CompletedProcess[str]":
    command = [*COMMAND, str(file), *arguments, "--data", str(data)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, 4096)
    except OSError:  # so Linux tells that the other side is closed
        return b""
