"""The place of the files: a directory, or whatever fsspec knows by a URI."""

import errno
import os
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from service.errors import NoRoom, Unavailable
from service.files.place import Damaged, Place, checksum_of, open_place, reachable
from service.settings import Settings

FULL = Path("/dev/full")  # the disk on which there is never any room


@pytest.fixture(params=["", "file://{}/shared", "memory://{}"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    return open_place(Settings(data=tmp_path, datasets=request.param.format(tmp_path)))


def test_what_is_kept_can_be_read_until_it_is_removed(place: Place) -> None:
    place.keep("a file", BytesIO(b"content"))

    with place.open("a file") as opened:
        assert b"content" == opened.read()
    with place.verified("a file", checksum_of(BytesIO(b"content"))) as opened:
        assert b"content" == opened.read()
    for _ in range(2):
        place.remove("a file")
    with pytest.raises(Damaged, match="is gone"):
        place.open("a file")


def test_a_file_that_was_changed_is_noticed(place: Place) -> None:
    place.keep("a file", BytesIO(b"contend"))

    with (
        pytest.raises(Damaged, match="was changed"),
        place.verified("a file", checksum_of(BytesIO(b"content"))),
    ):
        raise AssertionError


def test_a_file_that_is_half_written_has_no_name(tmp_path: Path) -> None:
    place = open_place(Settings(data=tmp_path))

    class Cut(BytesIO):
        def read(self, _size: int | None = -1, /) -> bytes:
            if self.tell():
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return super().read(3)

    with pytest.raises(NoRoom):
        place.keep("a file", Cut(b"content"))

    with pytest.raises(Damaged):
        place.open("a file")
    place.remove("a file")
    assert [] == list((tmp_path / "datasets").iterdir())


def test_a_spool_leaves_nothing(place: Place) -> None:
    with place.spooled() as file:
        file.write(b"content")
        assert [] == list(place.spool.iterdir())


def test_what_did_not_fit_into_a_spool_is_told_once(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.files.place.TemporaryFile", lambda **_: FULL.open("w+b"))

    with pytest.raises(NoRoom), place.spooled() as file, reachable():
        file.writelines([b"content"] * 10_000)


def test_whatever_a_driver_raises_its_store_is_unavailable(tmp_path: Path) -> None:
    class Endpoint(MemoryFileSystem):
        def open(self, *_: Any, **__: Any) -> Any:
            raise LookupError("no such host")

    place = Place(Endpoint(), "bucket", tmp_path)

    with pytest.raises(Unavailable):
        place.keep("a file", BytesIO(b"content"))
    with pytest.raises(Unavailable):
        place.open("a file")


@pytest.mark.parametrize("uri", ["s3://bucket/bough", "nothing://bucket"])
def test_a_place_that_no_driver_knows_is_told(tmp_path: Path, uri: str) -> None:
    with pytest.raises(ValueError, match="BOUGH_DATASETS cannot be used"):
        open_place(Settings(data=tmp_path, datasets=uri))


def test_a_place_that_cannot_be_reached_is_unavailable() -> None:
    place = open_place(Settings(data=Path("/dev/null")))

    with pytest.raises(Unavailable), place.spooled():
        raise AssertionError
    with pytest.raises(Unavailable):
        place.keep("a file", BytesIO(b""))
    with pytest.raises(NoRoom), reachable():
        raise OSError(errno.ENOSPC, "full")
