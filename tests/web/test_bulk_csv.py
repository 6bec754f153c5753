"""CSV in bulk: read as uploads are, but for what the version knows of its columns."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from service.storage.engine import Store
from tests.web.conftest import trained
from tests.web.forms import CSV, Row, ask, from_csv, put, without_lines, without_warnings
from tests.web.test_problems import problem


@pytest.mark.parametrize(
    ("query", "body", "meant"),
    [
        ("", b"density;colour\n 0.1 ;black\n+.5e0;\n", [(0.1, "black"), (0.5, None)]),
        ("decimal=,", b"density\tcolour\n0,5\tNA\n", [(0.5, "NA")]),
        ("decimal=,&nulls=NA", b'density\tcolour\n"0,5"\tNA\n', [(0.5, None)]),
        ("delimiter=,", b'\n\xef\xbb\xbfdensity,colour\n007,"bl""ack"\n', [(7, 'bl"ack')]),
        ("", b"\xef\xbb\xbf\n\ndensity,colour\r\n5.,white\r\n", [(5, "white")]),
    ],
)
def test_csv_is_read_as_uploads_are(
    melon_client: FlaskClient, query: str, body: bytes, meant: list[tuple[Any, Any]]
) -> None:
    if b"\n\xef" in body:  # only at the very start it is a mark
        body = body.replace(b"\xef\xbb\xbf", b"")
    rows = [{"density": density, "colour": colour} for density, colour in meant]
    sent = {"data": body, "content_type": CSV, "headers": {"Accept": "application/json"}}
    answer = melon_client.post(f"/models/melons/predict?{query}", **sent)

    assert answer.json is not None
    assert without_lines(answer.json) == ask(melon_client, "melons", rows)


@pytest.mark.parametrize(
    "text", ["NaN", "inf", "0x10", "1_000", "1,5", ".", "e5", " ", "1e999", "٣"]
)
def test_what_is_no_number_in_csv_is_named(melon_client: FlaskClient, text: str) -> None:
    body = f'density\n0.5\n"{text}"\n'.encode()
    answer = melon_client.post("/predict?model=melons", data=body, content_type=CSV)

    assert [(each["pointer"], each["line"]) for each in problem(answer, 422)["errors"]] == [
        ("/rows/1/density", 3)
    ]


def test_a_number_in_csv_is_the_category_that_it_is_in_json(
    client_of: Any, sqlite_store: Store
) -> None:
    rows: list[Row] = [{"size": n % 3 + 0.5, "ripe": "yes" if n % 3 else "no"} for n in range(12)]
    declared = [{"name": "size", "kind": "categorical"}]
    trained(sqlite_store, data={"rows": rows}, attributes=declared)
    client = client_of(sqlite_store)
    expected = ask(client, "melons", [{"size": 1.5}, {"size": "01.5"}])["predictions"]
    body = b"size\n1.50\n01.5\n"

    assert expected == [
        without_warnings(each) for each in from_csv(put(client, "melons", body, CSV, CSV).data)
    ]
