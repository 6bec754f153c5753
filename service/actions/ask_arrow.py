"""Asking in Arrow: from the bytes of a stream to those of its answer, where it is ordinary.

Imported when the first such request comes: Arrow takes its time and its memory.
"""

from service.actions.bulk import Asked
from service.actions.bulk_arrow import AT_ONCE
from service.actions.reading_arrow import read_batch
from service.actions.ready import Ready
from service.actions.reply import put, tell_rows
from service.actions.wording_arrow import leaves_in_arrow, worded_in_arrow
from service.tree.tell import find_leaves


def ask_in_arrow(sent: bytes, ready: Ready, max_bytes: int) -> bytes | memoryview | None:
    """The answer to a stream of one batch; None where native code does not know what is in it."""
    loaded, teller = ready.loaded, ready.loaded.teller
    if teller is None or ready.reader is None or len(sent) > max_bytes:
        return None
    most_rows = AT_ONCE * Asked(ready).most_rows
    read = read_batch(ready.reader, loaded.version.attributes, sent, most_rows)
    if read is None:
        return None
    leaves = find_leaves(teller, read.values) if read.is_known else None
    if leaves is not None:
        return leaves_in_arrow(loaded, teller.natives.write_arrow_leaves, leaves)
    told, weight = put(ready, tell_rows(ready, read.values)), loaded.compiled.tree.weight
    return worded_in_arrow(loaded.version, teller.natives.write_arrow, weight, told)
