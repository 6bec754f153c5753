"""What is wrong with a text that is to be JSON."""

from codecs import getincrementaldecoder

import orjson

PIECE = 1 << 16  # bytes that are decoded at once: a letter takes up to four where it is text


def what_is_wrong(text: bytes, error: orjson.JSONDecodeError, told: str) -> str:
    """The end of a sentence about the text, in the words in which the error is told."""
    if "UTF-8" in error.msg and (place := _first_strange(text)) is not None:
        return f"is not UTF-8, which JSON must be: its byte {place + 1} is {text[place]:#04x}"
    if "infinity" in error.msg:
        return f"holds a number that is too large: {told}"
    if b"NaN" in text or b"Infinity" in text:
        return f"is not JSON, which has no NaN and no Infinity; send null: {told}"
    return f"is not JSON: {told}"


def _first_strange(text: bytes) -> int | None:
    """Where the first byte stands that is not UTF-8."""
    decoder = getincrementaldecoder("utf-8")()
    for start in range(0, len(text), PIECE):
        end = min(start + PIECE, len(text))
        try:
            decoder.decode(text[start:end], final=end == len(text))
        except UnicodeDecodeError as wrong:  # what was left of the piece before is in there too
            return end - len(wrong.object) + wrong.start
    return None
