"""The one rule for the names of models and aliases."""

import re

LONGEST = 100
# Without / a name is one part of a path, without @ it can carry an alias, and . and .. would be
# taken out of a path by whoever passes it on. U+FEFF is white space to JavaScript only.
CHARACTERS = r"[^\s/@\u0000-\u001f\u007f-\u009f\ufeff]"
NAME = rf"^(?!\.{{1,2}}$){CHARACTERS}{{1,{LONGEST}}}$"
ALIAS = rf"^(?![0-9]+$)(?!\.{{1,2}}$){CHARACTERS}{{1,{LONGEST}}}$"
SELECTED = rf"^{CHARACTERS}{{1,{LONGEST}}}(@{CHARACTERS}{{1,{LONGEST}}})?$"

NAME_RULE = (
    f"must be 1 to {LONGEST} characters without white space, control characters, / and @, "
    "and neither . nor .."
)
ALIAS_RULE = f"{NAME_RULE}; and not only digits"
SELECTED_RULE = f"must be the name of a model or name@alias, each of up to {LONGEST} characters"


def is_name(text: str) -> bool:
    """Whether a model may have this name."""
    return _fits(NAME, text)


def is_alias(text: str) -> bool:
    """Whether an alias may have this name."""
    return _fits(ALIAS, text)


def is_selected(text: str) -> bool:
    """Whether this can be `name` or `name@alias`."""
    return _fits(SELECTED, text)


def _fits(pattern: str, text: str) -> bool:
    return re.fullmatch(pattern, text) is not None
