"""The forms in which rows are sent and answered, by their media types."""

from flask import request
from werkzeug.exceptions import UnsupportedMediaType

JSON, NDJSON, CSV, ARROW = "json", "ndjson", "csv", "arrow"
TYPES = {  # by which answers are declared
    JSON: "application/json",
    NDJSON: "application/x-ndjson",
    CSV: "text/csv; charset=utf-8",
    ARROW: "application/vnd.apache.arrow.stream",
}
TAB_SEPARATED = "text/tab-separated-values"
FORMS = {
    "application/json": JSON,
    "application/x-ndjson": NDJSON,
    "application/ndjson": NDJSON,
    "application/jsonl": NDJSON,
    "text/csv": CSV,
    "application/csv": CSV,
    TAB_SEPARATED: CSV,
    "application/vnd.apache.arrow.stream": ARROW,
}
ANY_FORM = "application/json, application/x-ndjson, text/csv or application/vnd.apache.arrow.stream"


def sent_form() -> str:
    """The form of the body of this request."""
    kind = request.mimetype
    if kind.startswith("application/") and kind.endswith("+json"):
        return JSON
    if kind not in FORMS:
        raise UnsupportedMediaType(f"The body must have the Content-Type {ANY_FORM}.")
    if request.mimetype_params.get("charset", "utf-8").lower() not in ("utf-8", "utf8"):
        raise UnsupportedMediaType("All forms are UTF-8; another charset cannot be read.")
    if request.mimetype_params.get("header") == "absent":
        raise UnsupportedMediaType("The header of CSV must be there: it names the attributes.")
    return FORMS[kind]


def wanted_form(sent: str) -> str:
    """The form to answer in: that of the body, unless another one is liked better."""
    accepted = request.accept_mimetypes
    if not accepted.provided:
        return sent
    quality = dict.fromkeys([sent, *TYPES], 0.0)
    for kind, form in FORMS.items():
        quality[form] = max(quality[form], accepted.quality(kind))
    return max(quality, key=quality.__getitem__)  # of equals the first
