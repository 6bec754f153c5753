"""A large body is read in parts, and answered as if it had been read as a whole."""

from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.actions import ask_parts
from service.actions.ask import ask
from service.actions.ask_parts import ask_in_parts
from service.actions.names import Selected
from service.actions.ready import Ready, make_ready
from service.settings import Settings
from tests.actions.golf import golf

SETTINGS = Settings(max_predict_rows=60)
READY = make_ready(golf())
ROWS = st.fixed_dictionaries(
    {},
    optional={
        "outlook": st.sampled_from(["sunny", "rain", "fog", "a},{b", None]),
        "temperature": st.sampled_from([1, 60.5, 1e300, None]),
        "humidity": st.sampled_from([70, "much"]),
        "play": st.sampled_from(["}, {", [{}], '"rows"', None]),
    },
)
FITTING = st.fixed_dictionaries(
    {},
    optional={
        "outlook": st.sampled_from(["sunny", "rain", None]),
        "temperature": st.sampled_from([1, 60.5, 1e300, None]),
    },
)
SUNNY = [{"outlook": "sunny"}] * 20
HEADS: list[dict[str, Any]] = [{"model": "golf"}, {"model": "golf", "version": 1}, {}]
TAILS: list[dict[str, Any]] = [
    {}, {"strict": True}, {"missing": "none"}, {"layout": "columns"}, {"version": 1}, {"x": 1},
    {"columns": {}}, {"model": "golf"},
]  # fmt: skip


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ask_parts, "PART", 150)


def find(selected: Selected) -> Ready | None:
    return READY if selected in (("golf", None), ("golf", 1)) else None


def written(head: dict[str, Any], rows: Any, tail: dict[str, Any], option: int = 0) -> bytes:
    """A body whose keys come in this order, even if one of them comes twice."""
    inner = [orjson.dumps(each, option=option).strip()[1:-1] for each in (head, tail)]
    return b"{%b}" % b",".join(
        each
        for each in (inner[0], b'"rows": ' + orjson.dumps(rows, option=option), inner[1])
        if each
    )


@given(
    st.sampled_from(HEADS),
    st.one_of(st.lists(FITTING, max_size=70), st.lists(ROWS, max_size=20)),
    st.sampled_from(TAILS),
    st.sampled_from([None, "golf"]),
    st.sampled_from([0, orjson.OPT_INDENT_2]),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_in_parts_it_is_answered_as_a_whole_or_not_at_all(
    head: dict[str, Any], rows: list[Any], tail: dict[str, Any], name: str | None, option: int
) -> None:
    sent = written(head, rows, tail, option)
    pieces = ask_in_parts(sent, name, find, SETTINGS)

    assert pieces is None or b"".join(pieces) == ask(sent, name, find, SETTINGS)


@pytest.mark.parametrize("n_rows", [0, 1, 8, 60])
@pytest.mark.parametrize("option", [0, orjson.OPT_INDENT_2])
def test_ordinary_bodies_are_read_in_parts(n_rows: int, option: int) -> None:
    rows = [{"outlook": "sunny", "temperature": number / 2} for number in range(n_rows)]
    sent = written({"model": "golf"}, rows, {"strict": True}, option)
    pieces = ask_in_parts(sent, None, find, SETTINGS)

    assert pieces is not None
    assert len(pieces) >= min(n_rows // 8, 3)
    assert b"".join(pieces) == ask(sent, None, find, SETTINGS)


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        (written({"model": "golf"}, [{"outlook": "sunny"}] * 61, {}), None),
        (written({"model": "tennis"}, [], {}), None),
        (written({"model": "golf"}, [], {}), "golf"),
        (written({}, [], {}), None),
        (written({"model": "golf"}, [{"outlook": "rain"}] * 20, {"rows": []}), None),
        (written({"model": "golf"}, [{"temperature": 1}] * 20, {"model": "golf"}), None),
        (b'{"model": "golf", "rows": [{"outlook": "' + b"x" * 400 + b'"}]}', None),
        (b'{"model": "golf", "rows": [{}, ', None),
        (b'{"model": "golf", "rows": {}}', None),
        (written({"model": "golf"}, SUNNY, {})[:-1] + b',"ro\\u0077s":[{}]}', None),
        (written({"model": "golf"}, SUNNY, {})[:-2] + b"," + b" " * 200 + b"]}", None),
        (b"\x0b" + written({"model": "golf"}, SUNNY, {}), None),
        (written({"model": "golf", "version": 1}, SUNNY, {}).replace(b":1,", b":01,"), None),
        (written({"model": "golf"}, SUNNY, {}).replace(b"golf", b"golf\xff"), None),
        (b"[]", None),
    ],
)
def test_what_is_not_ordinary_is_left_to_others(sent: bytes, name: str | None) -> None:
    assert ask_in_parts(sent, name, find, SETTINGS) is None
