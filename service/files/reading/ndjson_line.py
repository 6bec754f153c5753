"""One line of NDJSON: the object it is, or why it is none."""

import json
from math import inf
from typing import Any

import orjson

from service.errors import InvalidFile, Misfit

LONGEST_LINE = 2 * 1024**2  # bytes
DIGITS = bytes.maketrans(b"123456789", b"0" * 9)
MANY_DIGITS = b"0" * 19  # orjson makes a float of what 64 bits cannot hold
MOST_DIGITS = 400  # with more, a whole number is too large for a float anyway


def has_long_numbers(lines: bytes) -> bool:
    """Whether there may be whole numbers that orjson would round."""
    return MANY_DIGITS in lines.translate(DIGITS)


def read_line(line: bytes, number: int, *, is_exact: bool) -> dict[str, Any]:
    """The object of a line; numbers that are too large are infinite."""
    try:
        found = _read_exactly(line) if is_exact else orjson.loads(line)
    except (ValueError, RecursionError) as error:
        found = _read_anyway(line, number, error)
    if not isinstance(found, dict):
        raise _refused(number, "is no JSON object")
    return found


def _read_anyway(line: bytes, number: int, error: Exception) -> Any:
    """What orjson refuses only because a number is too large."""
    try:
        return _read_exactly(line)
    except (ValueError, RecursionError):
        # the text of another error may hold values
        why = error.msg if isinstance(error, json.JSONDecodeError) else "it cannot be decoded"
        raise _refused(number, f"is no JSON: {why}") from None


def _read_exactly(line: bytes) -> Any:
    found = json.loads(line.decode(), parse_int=_whole, parse_constant=_refuse)
    json.dumps(found, ensure_ascii=False).encode()  # lone surrogates are no text
    return found


def _whole(digits: str) -> int | float:
    sign = -1 if digits.startswith("-") else 1
    if len(digits) > MOST_DIGITS:
        return sign * inf
    return int(digits) if abs(float(digits)) < inf else sign * inf


def _refuse(name: str) -> None:
    raise ValueError(name)


def _refused(number: int, detail: str) -> InvalidFile:
    return InvalidFile(f"Line {number} {detail}.", [Misfit(number, None, detail)])
