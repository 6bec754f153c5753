"""Where a webhook may lead, and what it is told, signed so that it knows from whom it comes."""

import hmac
import socket
from dataclasses import asdict
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import quote

import orjson

from service.errors import BoughError
from service.storage.records import Job

NAT64 = ip_network("64:ff9b::/96")


class Forbidden(BoughError):
    """A webhook leads where it may not."""


def resolve(host: str, port: int, *, may_be_private: bool) -> list[str]:
    """The addresses of a host; Forbidden if one of them is not on the public internet."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    addresses = list(dict.fromkeys(str(each[4][0]) for each in found))
    if not may_be_private and not all(_is_public(address) for address in addresses):
        raise Forbidden("The webhook leads to an address that is not public.")
    return addresses


def notice(job: Job) -> bytes:
    """What a webhook is told: the job as the API tells it, without the webhook itself."""
    told = asdict(job)
    del told["webhook"]
    links = {"self": f"/jobs/{job.id}"}
    if job.version is not None:
        links["version"] = f"/models/{quote(job.model)}/versions/{job.version}"
    if job.has_result:
        links["result"] = f"/jobs/{job.id}/result"
    return orjson.dumps(told | {"links": links}, option=orjson.OPT_UTC_Z)


def signed(body: bytes, secret: str, timestamp: int) -> dict[str, str]:
    """The headers by which the receiver knows that the body is ours, and not an old one."""
    signature = hmac.digest(secret.encode(), b"%d." % timestamp + body, "sha256").hex()
    return {"Bough-Timestamp": str(timestamp), "Bough-Signature": f"sha256={signature}"}


def _is_public(text: str) -> bool:
    address = _inner(ip_address(text.partition("%")[0]))
    return address.is_global and not address.is_multicast


def _inner(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """The IPv4 address that an IPv6 address stands for, if it does."""
    if isinstance(address, IPv4Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
