"""The place of the files: a directory, or an object store that fsspec knows by its URI.

A file is seen whole or not at all: in a directory it gets its name when it is safe on the disk,
and an object store shows an object when its last byte has come.
"""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, BinaryIO

import fsspec

from service.errors import BoughError, NoRoom, Unavailable
from service.settings import Settings

CHUNK = 1024 * 1024
OS_ERRORS: tuple[type[Exception], ...] = (OSError,)
PART = ".part"  # the end of a name whose file is still being written


class Damaged(BoughError):
    """A file is not what was written."""


@dataclass(frozen=True)
class Place:
    """Where files are, each known by its name; and where this machine may spool."""

    system: Any
    root: str
    spool: Path

    @property
    def is_local(self) -> bool:
        """Whether it is a directory that this machine sees."""
        return "file" in _protocols(self.system)

    def keep(self, name: str, source: BinaryIO) -> None:
        """Write all that the source still has to a file of this name."""
        with reachable(self._errors):
            if self.is_local:
                self._keep_local(Path(self._path(name)), source)
                return
            with self.system.open(self._path(name), "wb") as target:
                shutil.copyfileobj(source, target, CHUNK)

    def open(self, name: str) -> BinaryIO:
        """The file, opened for reading; Damaged if it is gone."""
        with reachable(self._errors):
            try:
                opened: BinaryIO = self.system.open(self._path(name), "rb")
            except FileNotFoundError:
                raise Damaged("A file that belongs to the dataset is gone.") from None
            return opened

    @contextmanager
    def verified(self, name: str, checksum: str) -> Iterator[BinaryIO]:
        """The file on this machine, once it has been found to be what was written."""
        with self.open(name) as opened:
            if self.is_local:
                _verify(opened, checksum)
                yield opened
                return
            with self.spooled() as copy:
                with reachable(self._errors):
                    shutil.copyfileobj(opened, copy, CHUNK)
                _verify(copy, checksum)
                yield copy

    @contextmanager
    def spooled(self) -> Iterator[BinaryIO]:
        """An empty file without a name: whatever happens to us, nothing is left of it."""
        with reachable():
            self.spool.mkdir(parents=True, exist_ok=True)
            file = TemporaryFile(dir=self.spool)  # noqa: SIM115
        try:
            yield file
        finally:
            with suppress(OSError):  # a full disk was told of; what it still holds is not needed
                file.close()

    def remove(self, name: str) -> None:
        """Remove a file, and what was written of it; that it is gone already does not matter."""
        with reachable(self._errors):
            for each in (name, name + PART):
                with suppress(FileNotFoundError):
                    self.system.rm_file(self._path(each))

    @property
    def _errors(self) -> tuple[type[Exception], ...]:
        return OS_ERRORS if self.is_local else (Exception,)  # the drivers of stores have their own

    def _path(self, name: str) -> str:
        return f"{self.root}/{name}"

    def _keep_local(self, path: Path, source: BinaryIO) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(path.name + PART)
        with part.open("wb") as target:
            shutil.copyfileobj(source, target, CHUNK)
            target.flush()
            os.fsync(target.fileno())
        part.replace(path)
        directory = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(directory)  # the name too must outlive a loss of power
        finally:
            os.close(directory)


def open_place(settings: Settings) -> Place:
    """The place that the settings name; nothing is touched yet. ValueError if there is none."""
    try:
        system, root = fsspec.core.url_to_fs(settings.datasets_uri)
    except (ImportError, ValueError) as error:
        raise ValueError(f"BOUGH_DATASETS cannot be used: {error}") from error
    return Place(system, root.rstrip("/"), settings.data.absolute() / "spool")


@contextmanager
def reachable(errors: tuple[type[Exception], ...] = OS_ERRORS) -> Iterator[None]:
    """A block in which a place that cannot be used is Unavailable, and a full one NoRoom."""
    try:
        yield
    except BoughError:
        raise
    except errors as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoRoom("There is no room left where datasets are kept.") from error
        raise Unavailable("The place where datasets are kept cannot be reached.") from error


def _verify(opened: BinaryIO, checksum: str) -> None:
    opened.seek(0)
    if checksum != checksum_of(opened):
        raise Damaged("A file that belongs to the dataset was changed since it was written.")
    opened.seek(0)


def checksum_of(opened: BinaryIO) -> str:
    """The SHA-256 of what the file still has."""
    digest = sha256()
    for chunk in chunks_of(opened):
        digest.update(chunk)
    return digest.hexdigest()


def chunks_of(opened: BinaryIO, size: int = CHUNK) -> Iterator[bytes]:
    """What the file still has, a part at a time."""
    while chunk := opened.read(size):
        yield chunk


def _protocols(system: Any) -> tuple[str, ...]:
    found = system.protocol
    return (found,) if isinstance(found, str) else tuple(found)
