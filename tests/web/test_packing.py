"""gzip both ways, within limits."""

import gzip
import zlib
from typing import Any

import orjson
import pytest
from flask.testing import FlaskClient
from hypothesis import given
from hypothesis import strategies as st
from werkzeug.exceptions import BadRequest, RequestEntityTooLarge

from service.web import packing
from service.web.packing import is_liked, packed_pieces, unpacked
from tests.web.conftest import SETTINGS
from tests.web.forms import ARROW, CSV, NDJSON, READ, ask, forms
from tests.web.test_problems import problem

PACKED = {"Content-Encoding": "gzip"}
ROWS: list[dict[str, Any]] = [{"colour": "black", "density": 0.5}, {"density": 0.1}] * 90
JSON = "application/json"


def bodies() -> dict[str, bytes]:
    return dict(forms(ROWS, ["colour", "density"])) | {JSON: orjson.dumps({"rows": ROWS})}


@pytest.fixture
def small_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers that are packed though they are not large."""
    for module in ("packing", "bulk", "predict"):
        monkeypatch.setattr(f"service.web.{module}.LEAST", 1000)


@pytest.mark.usefixtures("small_answers")
@pytest.mark.parametrize("kind", [JSON, NDJSON, CSV, ARROW])
def test_every_form_may_be_packed_both_ways(melon_client: FlaskClient, kind: str) -> None:
    sent = {"data": gzip.compress(bodies()[kind]), "content_type": kind}
    headers = PACKED | {"Accept-Encoding": "br, gzip;q=0.5"}
    answer = melon_client.post("/models/melons/predict", **sent, headers=headers)
    told = gzip.decompress(answer.data)
    read = READ.get(kind, lambda body: orjson.loads(body)["predictions"])
    answers = [{name: each[name] for name in each if name != "warnings"} for each in read(told)]

    assert (answer.headers["Content-Encoding"], answer.mimetype) == ("gzip", kind)
    assert answer.headers["Vary"] == "Accept, Accept-Encoding"
    assert answers == ask(melon_client, "melons", ROWS)["predictions"]


@pytest.mark.usefixtures("small_answers")
@pytest.mark.parametrize("accepted", ["", "identity", "br", "gzip;q=0", "*;q=0"])
@pytest.mark.parametrize("kind", [JSON, NDJSON])
def test_what_is_not_liked_is_not_packed(
    melon_client: FlaskClient, kind: str, accepted: str
) -> None:
    sent = {"data": bodies()[kind], "content_type": kind}
    headers = {"Accept-Encoding": accepted}
    answer = melon_client.post("/models/melons/predict", **sent, headers=headers)

    assert "Content-Encoding" not in answer.headers
    assert answer.headers["Vary"] == "Accept, Accept-Encoding"


@pytest.mark.usefixtures("small_answers")
def test_answers_by_hand_and_explanations_are_packed_too(melon_client: FlaskClient) -> None:
    strange = [*ROWS, {"colour": "red"}]
    for path, rows in (("/predict", strange), ("/explain", [{}] * 5)):
        body = {"model": "melons", "rows": rows}
        plain = melon_client.post(path, json=body)
        answer = melon_client.post(path, json=body, headers={"Accept-Encoding": "gzip"})

        assert answer.headers["Content-Encoding"] == "gzip"
        assert gzip.decompress(answer.data) == plain.data


def test_a_small_answer_is_not_worth_packing(melon_client: FlaskClient) -> None:
    for kind, body in forms(ROWS[:20], ["colour", "density"]):
        sent = {"data": body, "content_type": kind, "headers": {"Accept-Encoding": "gzip"}}
        answer = melon_client.post("/models/melons/predict", **sent)

        assert len(answer.data) < packing.LEAST
        assert "Content-Encoding" not in answer.headers


@pytest.mark.parametrize("path", ["/predict", "/train"])
def test_a_bomb_is_refused_when_it_has_grown_to_the_limit(
    melon_client: FlaskClient, path: str
) -> None:
    bomb = gzip.compress(b"{" + b" " * (100 * SETTINGS.max_body_bytes))
    answer = melon_client.post(path, data=bomb, content_type=JSON, headers=PACKED)

    assert len(bomb) < SETTINGS.max_body_bytes
    assert "unpacked" in problem(answer, 413)["detail"]


@pytest.mark.parametrize("kind", [JSON, NDJSON, CSV, ARROW])
@pytest.mark.parametrize(
    "spoil",
    [lambda body: body[:-9], lambda body: body[:9] + b"x" * 9, lambda _: b"", lambda _: b"{}"],
)
def test_a_damaged_gzip_stream_is_a_problem(
    melon_client: FlaskClient, kind: str, spoil: Any
) -> None:
    sent = {"data": spoil(gzip.compress(bodies()[kind])), "content_type": kind}
    answer = melon_client.post("/models/melons/predict", **sent, headers=PACKED)

    assert "gzip stream" in problem(answer, 400)["detail"]


@pytest.mark.parametrize("kind", [JSON, NDJSON])
def test_other_codings_are_not_taken(melon_client: FlaskClient, kind: str) -> None:
    sent = {"data": b"", "content_type": kind, "headers": {"Content-Encoding": "br"}}

    problem(melon_client.post("/models/melons/predict", **sent), 415)


@given(st.lists(st.binary(max_size=300), max_size=5), st.integers(1, 40), st.integers(1, 50))
def test_what_was_packed_is_unpacked_however_it_is_cut(
    members: list[bytes], size: int, limit: int
) -> None:
    packed = b"".join(map(gzip.compress, members)) or gzip.compress(b"")
    chunks = [packed[start : start + size] for start in range(0, len(packed), size)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(packing, "CHUNK", limit)
        found = list(unpacked(chunks, "gzip", 10_000))

    assert b"".join(found) == b"".join(members)
    assert all(len(each) <= limit for each in found)


def test_no_more_is_unpacked_than_may_be() -> None:
    bomb = gzip.compress(b"\0" * 10**8)
    found: list[int] = []
    with pytest.raises(RequestEntityTooLarge):
        found.extend(map(len, unpacked([bomb], "x-gzip", 10**6)))

    assert sum(found) <= 10**6
    with pytest.raises(BadRequest):
        list(unpacked([], "gzip", 1))


@given(st.lists(st.binary(max_size=50), max_size=8))
def test_each_piece_can_be_unpacked_as_soon_as_it_has_come(pieces: list[bytes]) -> None:
    inflate = zlib.decompressobj(31)
    *packed, last = packed_pieces(pieces)

    assert [inflate.decompress(each) for each in packed] == pieces
    assert inflate.decompress(last) == b""
    assert inflate.eof


def test_whoever_takes_anything_takes_gzip() -> None:
    assert is_liked("*")
    assert is_liked("gzip, deflate, br, zstd")
    assert not is_liked("deflate")


def test_very_many_parts_with_nothing_in_them_are_refused() -> None:
    few, many = gzip.compress(b"") * 500 + gzip.compress(b"x"), gzip.compress(b"") * 2000

    assert b"".join(unpacked([few], "gzip", 10)) == b"x"
    with pytest.raises(BadRequest, match="empty"):
        b"".join(unpacked([many], "gzip", 10))
