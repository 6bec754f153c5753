"""The place of the files: a directory, or whatever fsspec knows by a URI."""

import errno
import os
from io import BytesIO
from pathlib import Path

import pytest

from service.errors import NoRoom, Unavailable
from service.files.place import Damaged, Place, checksum_of, open_place, reachable
from service.settings import Settings


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


def test_a_place_that_cannot_be_reached_is_unavailable() -> None:
    place = open_place(Settings(data=Path("/dev/null")))

    with pytest.raises(Unavailable), place.spooled():
        raise AssertionError
    with pytest.raises(Unavailable):
        place.keep("a file", BytesIO(b""))
    with pytest.raises(NoRoom), reachable():
        raise OSError(errno.ENOSPC, "full")
