"""Arrow IPC streams, as clients write them."""

from typing import Any

import pyarrow as pa


def stream_of(columns: dict[str, Any], **options: Any) -> bytes:
    """A stream of one batch of these columns."""
    batch, sink = pa.record_batch(columns), pa.BufferOutputStream()
    written = pa.ipc.IpcWriteOptions(**options)
    with pa.ipc.new_stream(sink, batch.schema, options=written) as stream:
        stream.write_batch(batch)
    made: bytes = sink.getvalue().to_pybytes()
    return made
