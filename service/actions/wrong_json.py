"""What is wrong with a text that is to be JSON."""

import orjson


def what_is_wrong(text: bytes, error: orjson.JSONDecodeError, told: str) -> str:
    """The end of a sentence about the text, in the words in which the error is told."""
    try:
        text.decode()
    except UnicodeDecodeError as wrong:  # of which orjson tells only that it is so
        letter = f"{text[wrong.start]:#04x}"
        return f"is not UTF-8, which JSON must be: its byte {wrong.start + 1} is {letter}"
    if "infinity" in error.msg:
        return f"holds a number that is too large: {told}"
    if b"NaN" in text or b"Infinity" in text:
        return f"is not JSON, which has no NaN and no Infinity; send null: {told}"
    return f"is not JSON: {told}"
