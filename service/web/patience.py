"""Patience: how long clients may take for the next bytes, sent or received."""

import struct
from socket import SO_RCVTIMEO, SO_SNDTIMEO, SOL_SOCKET
from typing import Any

LEAST = 0.001  # seconds; none at all would be no limit


def be_patient(connection: Any, seconds: float) -> None:
    """Give up clients that take longer than this; who is given up has a BlockingIOError.

    What a listener is told holds for the connections it accepts. The system is told: Python's own
    limits would have every read and write ask first whether it may, and other threads would take
    their turn in between.
    """
    for option in (SO_RCVTIMEO, SO_SNDTIMEO):
        connection.setsockopt(SOL_SOCKET, option, _packed(seconds))


def wait_no_more(connection: Any) -> None:
    """Have whoever reads on give up at once, unless something has come."""
    connection.setsockopt(SOL_SOCKET, SO_RCVTIMEO, _packed(LEAST))


def _packed(seconds: float) -> bytes:
    whole, rest = divmod(max(seconds, LEAST), 1)
    return struct.pack("@ll", int(whole), int(rest * 1e6))
