"""The terms of an order: its key, its priority, and limits below those of the settings."""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from flask import request
from marshmallow import Schema, fields, validate

from service.actions.webhook import Forbidden, resolve
from service.errors import Fault, InvalidData
from service.settings import Settings
from service.storage.records import Limits, Terms, Webhook
from service.web.fields import Number, Text, Whole
from service.web.problems import InvalidParameters
from service.web.schemas import about

KEY = "Idempotency-Key"
KEY_PATTERN = "^[!-~]{1,255}$"
KEY_IN_HEADER = {
    "name": KEY,
    "in": "header",
    "description": "Your name for this order: sent again with the same order, it makes no second "
    "job. It is kept as long as the job.",
    "schema": {"type": "string", "pattern": KEY_PATTERN},
}
REPLAYED = "Idempotent-Replayed"
MOST_BYTES = 2**53  # up to which JSON keeps whole numbers everywhere
PRIORITIES = validate.Range(min=-100, max=100)


class LimitsSchema(Schema):
    """What the training may take, below what the service allows."""

    seconds = Number(
        validate=validate.Range(min=0, min_inclusive=False),
        metadata=about("After so long it ends as failed.", exclusiveMinimum=0),
    )
    memory_bytes = Whole(
        validate=validate.Range(min=1, max=MOST_BYTES),
        metadata=about("Beyond so much it ends as failed; the bare process does not count."),
    )


class WebhookSchema(Schema):
    """Whom to tell when the job has ended."""

    url = fields.String(
        required=True,
        validate=[validate.Length(max=2000), validate.Regexp(r"https?://[!-~]+\Z")],
        metadata=about(
            "Gets a POST of the job, signed; http or https, without credentials.",
            pattern="^https?://[!-~]+$",
        ),
    )
    secret = Text(
        required=True,
        validate=validate.Length(min=1, max=1000),
        metadata=about("Signs what is sent (HMAC-SHA256); never shown again."),
    )


def read_key() -> str | None:
    """The key that this request carries, if it does."""
    key = request.headers.get(KEY)
    if key is not None and not re.fullmatch(KEY_PATTERN, key):
        detail = "must be 1 to 255 visible ASCII characters"
        raise InvalidParameters(f"The header {KEY} cannot be used.", [Fault(KEY, detail)])
    return key


def read_terms(order: Mapping[str, Any], settings: Settings) -> Terms:
    """The terms that an order asks for, which the settings allow."""
    limits = Limits(**order["limits"])
    faults = list(_beyond(limits, settings))
    if faults:
        raise InvalidData("Some limits are above those of the service.", faults)
    webhook = Webhook(**order["webhook"]) if "webhook" in order else None
    if webhook is not None:
        _check_url(webhook.url, may_be_private=settings.webhook_private)
    return Terms(priority=order["priority"], limits=limits, webhook=webhook)


def _check_url(url: str, *, may_be_private: bool) -> None:
    try:
        parts = urlsplit(url)
        if not parts.hostname or "@" in parts.netloc or parts.port == 0:
            raise ValueError(url)
        if not may_be_private:
            with suppress(OSError):  # a name that is not known yet may be when the job ends
                resolve(parts.hostname, parts.port or 0, may_be_private=False)
    except ValueError:
        detail = "must have a host and may have a port, but no credentials"
        raise InvalidData("The webhook cannot be used.", [Fault("/webhook/url", detail)]) from None
    except Forbidden as error:
        raise InvalidData(str(error), [Fault("/webhook/url", str(error))]) from None


def _beyond(limits: Limits, settings: Settings) -> Iterator[Fault]:
    for name, asked, allowed in (
        ("seconds", limits.seconds, settings.job_seconds),
        ("memory_bytes", limits.memory_bytes, settings.job_memory_bytes),
    ):
        if asked is not None and 0 < allowed < asked:
            yield Fault(f"/limits/{name}", f"must be at most {allowed:g}, the service's own limit")
