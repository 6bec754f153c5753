"""One POST to an address that was checked: no redirects, no proxies, and an end in any case."""

import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from threading import Timer
from urllib.parse import SplitResult, urlsplit

from service.actions.webhook import Forbidden, resolve

PORTS = {"http": 80, "https": 443}


class Undelivered(Exception):
    """It was not taken; the text says why, and holds nothing that is secret."""


def post(
    url: str, body: bytes, headers: Mapping[str, str], *, seconds: float, may_be_private: bool
) -> None:
    """Deliver the body, or raise Undelivered."""
    parts = urlsplit(url)
    end = time.monotonic() + seconds
    try:
        with (
            closing(_connect(parts, end, may_be_private=may_be_private)) as plain,
            _cut_off(plain, end),
        ):
            status = _exchange(parts, plain, body, headers)
        if time.monotonic() >= end:  # what was cut off among its headers looks like their end
            raise TimeoutError
    except Forbidden as error:
        raise Undelivered(str(error)) from None
    except (OSError, HTTPException, ValueError) as error:
        if time.monotonic() >= end:
            raise Undelivered(f"There was no answer within {seconds:g} seconds.") from None
        raise Undelivered(f"The call failed ({type(error).__name__}).") from None
    if not 200 <= status < 300:
        told = "; redirects are not followed" if 300 <= status < 400 else ""
        raise Undelivered(f"The answer was {status}{told}.")


def _connect(parts: SplitResult, end: float, *, may_be_private: bool) -> socket.socket:
    """A connection to the very address that was checked: a second look-up could tell another."""
    host, port = parts.hostname or "", parts.port or PORTS[parts.scheme]
    last: OSError = OSError("no address")
    for address in resolve(host, port, may_be_private=may_be_private):
        try:
            return socket.create_connection((address, port), max(0.01, end - time.monotonic()))
        except OSError as error:
            last = error
    raise last


@contextmanager
def _cut_off(connection: socket.socket, end: float) -> Iterator[None]:
    """A block that waits for this connection no longer than to the end, however slowly it drips."""
    twin = connection.dup()  # stays valid when the other is wrapped
    timer = Timer(max(0.0, end - time.monotonic()), _shut, [twin])
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        twin.close()


def _shut(connection: socket.socket) -> None:
    with suppress(OSError):  # the other side may have closed it
        connection.shutdown(socket.SHUT_RDWR)


def _exchange(
    parts: SplitResult, plain: socket.socket, body: bytes, headers: Mapping[str, str]
) -> int:
    """The status of the answer."""
    host = parts.hostname or ""
    port = parts.port or PORTS[parts.scheme]
    secure = parts.scheme == "https"
    default = ssl.create_default_context() if secure else None
    link = default.wrap_socket(plain, server_hostname=host) if default else plain
    connection = HTTPConnection(host, port)
    connection.default_port = PORTS[parts.scheme]  # which the header Host leaves out
    connection.sock = link
    with closing(connection):
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", path, body, dict(headers))
        return connection.getresponse().status
