"""The product in one story, over real HTTP, on both databases. Read this first."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import create_engine, text

from tests.postgres import Postgres
from tests.server import ended, running
from tests.textbook import melons

MODEL = "西瓜"
A_MELON = {
    "色泽": "浅白", "根蒂": "稍蜷", "敲声": "浊响", "纹理": None, "脐部": "稍凹", "触感": "软粘",
}  # fmt: skip
README = Path(__file__).parent.parent / "README.md"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def place(
    request: pytest.FixtureRequest, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[httpx.Client, str]]:
    """A client of a running service that has trained the melons, and its database."""
    data = tmp_path_factory.mktemp("story")
    url = f"sqlite:///{data / 'bough.db'}"
    if request.param == "postgresql":
        url = postgres.create("story")
    with running(data, url) as client:
        answer = client.post("/train", json=an_order())
        assert answer.status_code == 202
        assert answer.headers["location"] == f"/jobs/{answer.json()['id']}"
        job = ended(client, answer.json())
        assert (job["state"], job["version"], job["error"]) == ("succeeded", 1, None)
        yield client, url


@pytest.fixture
def client(place: tuple[httpx.Client, str]) -> httpx.Client:
    return place[0]


def an_order() -> dict[str, Any]:
    rows = melons("2.0-missing")
    return {"model": MODEL, "target": "好瓜", "data": {"rows": rows}, "params": {"preset": "id3"}}


def test_a_job_tells_how_far_it_came(client: httpx.Client) -> None:
    (job,) = client.get("/jobs", params={"model": MODEL}).json()["items"]

    assert job["progress"]["fraction"] == 1.0
    assert job["progress"]["nodes"] == 21
    assert job["attempt"] == 1


def test_a_job_tells_what_is_odd_about_its_data(client: httpx.Client) -> None:
    rows = [row | {"编号": f"no. {number}"} for number, row in enumerate(melons("2.0-missing") * 2)]
    sent = client.post("/train", json=an_order() | {"model": "odd", "data": {"rows": rows}})
    job = ended(client, sent.json())

    assert ["/data/rows/0/编号"] == [each["pointer"] for each in job["warnings"]]
    assert "looks like an identifier" in job["warnings"][0]["detail"]


def test_a_null_is_divided_over_the_branches_by_their_share(client: httpx.Client) -> None:
    answer = client.post("/predict", json={"model": MODEL, "rows": [A_MELON, {}]}).json()
    first, second = answer["predictions"]

    assert (answer["model"], answer["version"], answer["task"]) == (MODEL, 1, "classification")
    assert first["class"] == "是"
    assert first["probabilities"] == pytest.approx({"是": 0.6108108108, "否": 0.3891891892})
    assert (first["leaves"], first["unknown"], first["certain"]) == (3, ["纹理"], False)
    assert first["bounds"] == {"是": [0.0, 1.0], "否": [0.0, 1.0]}
    assert second["probabilities"] == pytest.approx({"是": 0.4705882353, "否": 0.5294117647})


def test_a_category_never_seen_is_unknown_and_said_so(client: httpx.Client) -> None:
    row = A_MELON | {"色泽": "粉红", "纹理": "清晰", "触感": "硬滑"}
    answer = client.post(f"/models/{MODEL}/predict", json={"rows": [row]}).json()

    assert answer["predictions"][0]["probabilities"] == {"是": 1.0, "否": 0.0}
    assert answer["warnings"][0]["pointer"] == "/rows/0/色泽"


def test_each_weighted_path_is_explained(client: httpx.Client) -> None:
    (told,) = client.post("/explain", json={"model": MODEL, "rows": [A_MELON]}).json()[
        "explanations"
    ]
    weights = [path["weight"] for path in told["paths"]]
    first = told["paths"][0]["steps"][0]

    assert weights == pytest.approx([7 / 15, 5 / 15, 3 / 15])
    assert sum(weights) == pytest.approx(1.0)
    assert {key: first[key] for key in ("node", "attribute", "operator", "value", "given")} == {
        "node": 0, "attribute": "纹理", "operator": "=", "value": "清晰", "given": None,
    }  # fmt: skip
    assert told["paths"][1]["distribution"] == pytest.approx({"是": 4 / 3, "否": 0.0})
    assert told["paths"][1]["support"] == pytest.approx(4 / 3)


def test_the_model_is_listed_with_its_versions_and_nodes(client: httpx.Client) -> None:
    (model,) = client.get("/models", params={"name": "瓜"}).json()["items"]
    version = client.get(f"/models/{MODEL}/versions/1").json()
    nodes = client.get(f"/models/{MODEL}/versions/1/nodes").json()["items"]
    tree = client.get(f"/models/{MODEL}/versions/1/tree").json()

    assert (model["name"], model["latest"]) == (MODEL, 1)
    assert (version["classes"], version["nodes"], version["target"]) == (["是", "否"], 21, "好瓜")
    assert [node["node"] for node in nodes] == list(range(21))
    assert nodes[0]["attribute"] == "纹理"
    assert [child["value"] for child in tree["children"]] == ["清晰", "稍糊", "模糊"]


def test_an_alias_names_a_version(client: httpx.Client) -> None:
    client.put(f"/models/{MODEL}/aliases/冠军", json={"version": 1})
    answer = client.post("/predict", json={"model": f"{MODEL}@冠军", "rows": [{}]})

    assert answer.json()["version"] == 1


def test_numbers_as_strings_are_pointed_at(client: httpx.Client) -> None:
    order = {"model": "numbers", "target": "好瓜", "data": {"rows": melons("3.0")}}
    job = ended(client, client.post("/train", json=order).json())
    assert job["state"] == "succeeded"
    rows = [{"密度": 0.3}, {"密度": "0.3"}, {"colour": "red"}]
    answer = client.post("/predict", json={"model": "numbers", "rows": rows})

    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    assert {error["pointer"] for error in answer.json()["errors"]} == {
        "/rows/1/密度", "/rows/2/colour",
    }  # fmt: skip


def test_one_query_tells_which_leaves_say_yes(place: tuple[httpx.Client, str]) -> None:
    """The query is the one that stands in the README."""
    query = re.findall(r"```sql\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)[0]
    query = query.replace("'melons'", f"'{MODEL}'").replace("'yes'", "'是'")
    engine = create_engine(place[1])
    with engine.connect() as connection:
        found = [(row.node_id, row.weight) for row in connection.execute(text(query))]
    engine.dispose()

    assert [node for node, _ in found] == [4, 17, 14, 19, 10]
    assert [weight for _, weight in found] == pytest.approx([5.0, 4 / 3, 1.0, 7 / 15, 3 / 15])
