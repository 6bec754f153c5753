"""Describing a file before it is kept: its size and its checksum."""

import os
from typing import BinaryIO

from service.files.place import checksum_of
from service.storage.records import StoredFile


def describe(name: str, format_: str, written: BinaryIO) -> StoredFile:
    """What a file that was written will be known by; it stands at its start then."""
    written.seek(0)
    file = StoredFile(name, format_, os.fstat(written.fileno()).st_size, checksum_of(written))
    written.seek(0)
    return file
