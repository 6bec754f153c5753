"""An Arrow IPC stream from anybody: checked message by message before Arrow makes arrays of it.

Only those who have such a stream import this, for Arrow takes its time and its memory.
"""

import io
import struct
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import pyarrow as pa

from service.errors import InvalidData, LimitReached
from service.files.stream import Stream

DICTIONARY, BATCH = 2, 3  # kinds of messages in their metadata
KIND, CONTENT = 1, 2  # places in the metadata of a message
DATA, IS_DELTA = 1, 2  # of a dictionary
COMPRESSION = 3  # of a batch, also of the one that a dictionary is
ROWS_PER_BYTE = 8  # at the most: something must have been sent of every row
FREE_ROWS = 4_096  # of a batch that is all null
NOT_ARROW = "The body is no Arrow IPC stream, or some of it was lost."
A_FILE = "The body is an Arrow file (Feather); send an Arrow IPC stream (pyarrow.ipc.new_stream)."
FILE, FIRST, LONGEST = (
    b"ARROW1",
    b"\xff\xff\xff\xff",
    1 << 24,
)  # bytes of a first message, without FIRST


class Views(io.RawIOBase):
    """Reads views of some bytes, as Arrow needs no copies."""

    def readable(self) -> bool:
        """That it can be read."""
        return True


class Plain(Views):
    """A stream as it comes."""

    def __init__(self, source: Stream) -> None:
        self._source = source

    def read(self, size: int = -1, /) -> Any:
        """The next bytes; none at the end."""
        return self._source.view(size)


class Checked(Views):
    """The messages of a stream, each looked at before it is passed on."""

    def __init__(self, source: Stream) -> None:
        self._messages = pa.ipc.MessageReader.open_stream(Plain(source))
        self._held = memoryview(b"")

    def read(self, size: int = -1, /) -> Any:
        """The next bytes; none at the end."""
        if not self._held:
            message = next(self._messages, None)
            if message is None:
                return b""
            check_metadata(message.metadata)
            self._held = memoryview(message.serialize())
        found, self._held = self._held[:size], self._held[size:]
        return found


def open_batches(chunks: Iterator[bytes], most: int) -> tuple[list[str], Iterator[Any]]:
    """The names of the columns, and the record batches; none has more than so many bytes."""
    with damage_told():
        options, source = pa.ipc.IpcReadOptions(use_threads=False), Stream(_begun(chunks), most)
        reader = pa.ipc.open_stream(Checked(source), options=options)
        return reader.schema.names, _batches(reader, source, most)


def _begun(chunks: Iterator[bytes]) -> Iterator[bytes]:
    """The same chunks, if they begin as a stream does; or Arrow would read a length out of them."""
    first = b""
    while len(first) < len(FILE) and (chunk := next(chunks, b"")):
        first += chunk
    if first.startswith(FILE):
        raise InvalidData(A_FILE)
    if not first.startswith(FIRST) and int.from_bytes(first[:4], "little") > LONGEST:
        raise InvalidData(NOT_ARROW)
    return chain([first], chunks)


def _batches(reader: Any, source: Stream, most: int) -> Iterator[Any]:
    while True:
        with damage_told():
            batch = next(iter(reader), None)
            if batch is None:
                break
            _validate(batch, most)
        yield batch
    if source.view(1):
        raise InvalidData("Something follows after the end of the Arrow IPC stream.")


@contextmanager
def damage_told() -> Iterator[None]:
    """A block in which whatever Arrow cannot read is damaged."""
    try:
        yield
    except (pa.ArrowException, UnicodeDecodeError, struct.error, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise InvalidData(NOT_ARROW) from None


def check_metadata(given: Any) -> None:
    """Refuse what would take more memory than was sent: packed buffers, growing dictionaries."""
    metadata = bytes(given)
    message = _followed(metadata, 0)
    kind, content = _field(metadata, message, KIND), _field(metadata, message, CONTENT)
    if kind is None or content is None or metadata[kind] not in (DICTIONARY, BATCH):
        return
    batch = _followed(metadata, content)
    if metadata[kind] == DICTIONARY:
        delta, data = _field(metadata, batch, IS_DELTA), _field(metadata, batch, DATA)
        if (delta is not None and metadata[delta]) or data is None:
            raise InvalidData("Dictionaries that grow (deltas) are not taken; send them anew.")
        batch = _followed(metadata, data)
    if _field(metadata, batch, COMPRESSION) is not None:
        raise InvalidData("Buffers that are packed (lz4, zstd) are not taken; gzip the body.")


def _followed(metadata: bytes, place: int) -> int:
    """Where an offset leads (the metadata are FlatBuffers)."""
    (offset,) = struct.unpack_from("<I", metadata, place)
    return place + int(offset)


def _field(metadata: bytes, table: int, number: int) -> int | None:
    """Where a field of a table stands, if it is there."""
    (back,) = struct.unpack_from("<i", metadata, table)
    (n_bytes,) = struct.unpack_from("<H", metadata, table - back)
    at = 4 + 2 * number
    if at >= n_bytes:
        return None
    (offset,) = struct.unpack_from("<H", metadata, table - back + at)
    return table + int(offset) if offset else None


def _validate(batch: Any, most: int) -> None:
    """Refuse what would break us later, and rows that take no room."""
    batch.validate(full=True)
    dictionaries = [each.dictionary for each in batch.columns if pa.types.is_dictionary(each.type)]
    for each in dictionaries:
        each.validate(full=True)
    if sum(each.nbytes for each in dictionaries) > most:
        raise LimitReached(f"The dictionaries have more than {most} bytes.")
    if batch.num_rows > max(FREE_ROWS, ROWS_PER_BYTE * batch.nbytes):
        raise LimitReached("A record batch has more rows than bytes that tell them apart.")
