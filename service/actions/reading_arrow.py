"""Reading Arrow: the columns of a record batch straight from where they lie, by native code.

Only a stream of one batch of doubles and texts can be read so, and only where nothing in it is
strange; whatever else there may be is left to those who read Arrow in bulk.
"""

from collections.abc import Sequence
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from service.actions.reading import FEW, LONGEST_PLAN, MOST_PLANS, Reader
from service.files.arrow_stream import check_metadata, damage_told
from service.tree.arrays import Floats, Ints
from service.tree.attribute import Attribute, Kind
from service.tree.native import address_of

MARK = b"\xff\xff\xff\xff"  # before every message
END = MARK + bytes(4)
NO_BITS = -1
OPTIONS = pa.ipc.IpcReadOptions(use_threads=False)
DOUBLES, STRINGS = pa.float64(), pa.string()


class Batch(NamedTuple):
    """What was read."""

    values: Floats  # (row, attribute)
    is_known: bool  # whether the stream says that there is no null


class Plan(NamedTuple):
    """Where the columns lie in all streams that begin alike, up to the body of their batch."""

    n_bytes: int  # of such a stream
    n_rows: int
    columns: Ints  # by column what a kernel is told of it
    n_nulls: list[int]  # likewise


def read_batch(
    reader: Reader, attributes: Sequence[Attribute], sent: bytes, most_rows: int
) -> Batch | None:
    """The values of a stream; None where it is not as it mostly is."""
    begun = _beginning(sent)
    plan: Plan | None = reader.plans.get(begun) or _plan(attributes, sent)
    if plan is None or not 0 < plan.n_rows <= most_rows:
        return None
    if begun and begun not in reader.plans:
        _keep(reader.plans, begun, plan)
    is_such = len(sent) == plan.n_bytes and sent.endswith(END)
    values = _values(reader, plan, sent) if is_such else None
    return None if values is None else Batch(values, is_known=not any(plan.n_nulls))


def _beginning(sent: bytes) -> bytes:
    """The schema and the metadata of the first batch; empty where they are not as they mostly are.

    These alone tell where in a stream of some length what is.
    """
    n_bytes = 0
    for _ in range(2):
        if sent[n_bytes : n_bytes + 4] != MARK or len(sent) < n_bytes + 8:
            return b""
        n_bytes += 8 + int.from_bytes(sent[n_bytes + 4 : n_bytes + 8], "little")
        if n_bytes > LONGEST_PLAN:
            return b""
    return sent[:n_bytes]


def _keep(plans: dict[bytes, Any], begun: bytes, plan: Plan) -> None:
    if len(plans) >= MOST_PLANS:
        plans.clear()  # who sends the same again and again is soon there again
    plans[begun] = plan


def _plan(attributes: Sequence[Attribute], sent: bytes) -> Plan | None:
    """Where the columns of a stream lie; None if it has others than doubles and texts."""
    places = {each.name: (at, each.kind == Kind.NUMERIC) for at, each in enumerate(attributes)}
    with damage_told():  # names too may be no texts
        batch = _batch(sent)
        names = [] if batch is None else batch.schema.names
    if batch is None or not names or len({*names}) < len(names) or not places.keys() >= {*names}:
        return None
    body = Body(pa.py_buffer(sent).address, len(sent), batch.num_rows)
    pairs = zip(names, batch.columns, strict=True)
    columns = [_column(body, array, *places[name]) for name, array in pairs]
    found = [each for each in columns if each is not None]
    if len(found) < len(columns):
        return None
    n_nulls = [each.null_count for each in batch.columns]
    return Plan(len(sent), batch.num_rows, np.array(found, dtype=np.int64), n_nulls)


def _batch(sent: bytes) -> Any:
    """The only batch of a stream, which ends with its body; None if that is not so."""
    source = pa.BufferReader(sent)
    # one more than are wanted, which finds the end: there may be as many as fit into a body
    messages = [*islice(pa.ipc.MessageReader.open_stream(source), 3)]
    if [each.type for each in messages] != ["schema", "record batch"]:
        return None
    if not sent.endswith(END) or source.tell() != len(sent):
        return None
    check_metadata(messages[1].metadata)
    made = pa.ipc.open_stream(pa.py_buffer(sent), options=OPTIONS).read_next_batch()
    made.validate()
    return made


class Body(NamedTuple):
    """Where a body lies in memory, and how many rows are in it."""

    start: int
    n_bytes: int
    n_rows: int

    def place(self, buffer: Any, least: int) -> int | None:
        """Where in the body a buffer begins; None if it is not there, or has fewer bytes.

        Kernels look at eight letters at a time, for which the end of the stream leaves room.
        """
        at: int = buffer.address - self.start
        is_there = at >= 0 and at + buffer.size + len(END) <= self.n_bytes
        return at if is_there and buffer.size >= least else None


def _column(body: Body, array: Any, attribute: int, is_numeric: bool) -> list[int] | None:  # noqa: FBT001
    """What a kernel is told of a column; None if it is of another type, or lies elsewhere."""
    if array.type != (DOUBLES if is_numeric else STRINGS) or array.offset != 0:
        return None
    bits, values, *texts = array.buffers()
    least = 8 * body.n_rows if is_numeric else 4 * (body.n_rows + 1)
    letters = next((each for each in texts if each is not None and each.size), None)
    places = [
        NO_BITS if bits is None else body.place(bits, (body.n_rows + 7) // 8),
        body.place(values, least),
        0 if letters is None else body.place(letters, 0),
    ]
    found = [each for each in places if each is not None]
    if len(found) < len(places):
        return None
    return [attribute, *found, found[-1] + (0 if letters is None else letters.size)]


def _values(reader: Reader, plan: Plan, sent: bytes) -> Floats | None:
    """The values of columns; None if one has anything strange, or not as many nulls as it says."""
    values = np.empty((reader.n_attributes, plan.n_rows))
    if len(plan.columns) < reader.n_attributes:
        values.fill(np.nan)
    n_nulls = np.empty(len(plan.columns), dtype=np.int64)
    kernel = reader.natives.read_arrow
    call = kernel if values.size <= FEW else kernel.at_length
    call(
        *reader.arguments, *reader.pocket_arguments, sent, len(sent), address_of(plan.columns),
        len(plan.columns), address_of(values), plan.n_rows, address_of(n_nulls),
    )  # fmt: skip
    return values.T if n_nulls.tolist() == plan.n_nulls else None
