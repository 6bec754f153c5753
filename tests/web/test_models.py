"""The catalogue over HTTP: lists page by page, versions, nodes, trees, aliases."""

from typing import Any

import pytest
from flask.testing import FlaskClient

from service.storage.engine import Store
from tests.web.conftest import HOUSES, a_house_order, trained
from tests.web.test_problems import pointers, problem

IGNORED = {"name": "colour", "kind": "ignored"}
NAMES = ["b", "a", "西瓜", "C", "🍉", "ä", "a_b", "a%b"]


def get(client: FlaskClient, path: str) -> Any:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return answer.json


def walked(client: FlaskClient, path: str, limit: int) -> list[Any]:
    """All items of a list, page by page."""
    items: list[Any] = []
    page = get(client, f"{path}limit={limit}")
    while True:
        assert len(page["items"]) <= limit
        items += page["items"]
        if "next_cursor" not in page:
            return items
        page = get(client, f"{path}limit={limit}&cursor={page['next_cursor']}")


def faulty(client: FlaskClient, path: str) -> list[str]:
    """The parameters that an answer of 422 names."""
    return [error["parameter"] for error in problem(client.get(path), 422)["errors"]]


def test_the_pages_hold_each_model_once_in_every_order(client: FlaskClient, store: Store) -> None:
    for name in NAMES:
        trained(store, model=name)
    trained(store, model="b")
    by_name = sorted(NAMES)
    by_time = {"created_at": NAMES, "updated_at": [*NAMES[1:], "b"]}

    for limit in (1, 3, 8):
        assert names(client, "", limit) == by_name
        assert names(client, "order_by=-name&", limit) == by_name[::-1]
    for key, order in by_time.items():
        assert sorted(names(client, f"order_by={key}&", 3)) == by_name
        assert names(client, f"order_by=-{key}&", 3) == names(client, f"order_by={key}&", 3)[::-1]
        assert names(client, f"order_by={key}&", 3)[-1] == order[-1]


def names(client: FlaskClient, query: str, limit: int) -> list[str]:
    return [model["name"] for model in walked(client, f"/models?{query}", limit)]


def test_models_are_found_by_a_part_of_their_name(client: FlaskClient, store: Store) -> None:
    for name in NAMES:
        trained(store, model=name)

    assert names(client, "name=瓜&", 50) == ["西瓜"]
    assert names(client, "name=a_&", 50) == ["a_b"]
    assert names(client, "name=%25&", 50) == ["a%b"]


def test_a_cursor_must_be_ours_and_of_this_list(client: FlaskClient, store: Store) -> None:
    for name in NAMES:
        trained(store, model=name)
    cursor = get(client, "/models?limit=1")["next_cursor"]

    for wrong in ("x", "", "é", "%00", cursor[:-1], cursor + "A", cursor + "!", f"{cursor}=="):
        assert faulty(client, f"/models?cursor={wrong}") == ["cursor"]
    assert faulty(client, f"/models?order_by=-name&cursor={cursor}") == ["cursor"]
    assert faulty(client, f"/jobs?cursor={cursor}") == ["cursor"]


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("limit=0", "limit"), ("limit=1001", "limit"), ("limit=ten", "limit"), ("limit=", "limit"),
        ("limit=1_0", "limit"), ("limit=1&limit=2", "limit"), ("limit=" + "9" * 50, "limit"),
        ("order_by=size", "order_by"), ("nam=x", "nam"), ("name=%00", "name"),
    ],
)  # fmt: skip
def test_a_parameter_that_cannot_be_used_is_named(
    melon_client: FlaskClient, query: str, parameter: str
) -> None:
    assert faulty(melon_client, f"/models?{query}") == [parameter]


def test_a_model_and_its_versions_are_told(client: FlaskClient, store: Store) -> None:
    trained(store, model="西瓜", attributes=[{"name": "density", "kind": "ignored"}])
    trained(store, model="西瓜")
    client.put("/models/西瓜/aliases/冠军", json={"version": 1})
    model = get(client, "/models/西瓜")
    versions = get(client, "/models/西瓜/versions")["items"]
    first = get(client, "/models/西瓜/versions/1")

    assert (model["name"], model["latest"], model["aliases"]) == ("西瓜", 2, {"冠军": 1})
    assert [version["version"] for version in versions] == [2, 1]
    assert walked(client, "/models/西瓜/versions?", 1) == versions
    assert versions[1] == first
    assert (first["model"], first["task"], first["target"]) == ("西瓜", "classification", "ripe")
    assert first["attributes"] == [
        {
            "name": "colour", "kind": "categorical", "values": ["green", "black", "white"],
            "cost": 1.0, "group": None,
        }
    ]  # fmt: skip
    assert (first["alpha"], first["groups"]) == (None, {})
    assert (first["ignored"], first["classes"]) == (["density"], ["yes", "no"])
    assert (first["rows"], first["nodes"], first["leaves"], first["depth"]) == (6, 4, 3, 1)
    assert first["params"]["preset"] == "id3"
    assert (first["aliases"], first["metrics"]["evaluation"]) == (["冠军"], None)
    assert first["created_at"].endswith("Z")


@pytest.mark.parametrize("path", ["/models/melons", "/models/melons/versions/1"])
def test_what_has_not_changed_is_not_sent_again(
    client: FlaskClient, melons: str, path: str
) -> None:
    etag = client.get(path).headers["ETag"]
    same = client.get(path, headers={"If-None-Match": f'"other", W/{etag}'})
    client.put("/models/melons/aliases/champion", json={"version": 1})
    changed = client.get(path, headers={"If-None-Match": etag})

    assert (same.status_code, same.data, same.headers["ETag"]) == (304, b"", etag)
    assert changed.status_code == 200
    assert changed.headers["ETag"] != etag


def test_what_there_is_not_is_not_found(client: FlaskClient, melons: str) -> None:
    for path in (
        "/models/x", "/models/%00", "/models//versions", "/models/x/versions",
        "/models/melons/versions/2", "/models/melons/versions/0", "/models/melons/versions/latest",
        f"/models/melons/versions/{2**63}", "/models/x/versions/1/nodes",
        "/models/melons/versions/2/tree", "/models/melons/versions/1/tree?node=99",
        "/models/melons/aliases/x", "/models/x/aliases/x", "/models/melons/aliases/x/history",
    ):  # fmt: skip
        problem(client.get(path), 404)


def test_the_nodes_are_listed_parents_first(client: FlaskClient, melons: str) -> None:
    nodes = walked(client, "/models/melons/versions/1/nodes?", 2)
    root, below = nodes[0], nodes[1]

    assert [node["node"] for node in nodes] == list(range(6))
    assert (root["parent"], root["operator"], root["attribute"]) == (None, None, "density")
    assert root["distribution"] == {"yes": 3.0, "no": 3.0}
    assert (root["mean"], root["alpha_cut"], root["state"]) == (None, None, "inner")
    assert (below["parent"], below["operator"], below["split"]) == (0, "<=", None)
    assert below["threshold"] == pytest.approx(0.4395)
    assert faulty(client, "/models/melons/versions/1/nodes?limit=10001") == ["limit"]


def test_the_tree_is_told_down_to_a_depth(client: FlaskClient, melons: str) -> None:
    tree = get(client, "/models/melons/versions/1/tree")
    cut = get(client, "/models/melons/versions/1/tree?depth=1")
    part = get(client, "/models/melons/versions/1/tree?node=2")

    assert [child["operator"] for child in tree["children"]] == ["<=", ">"]
    assert "children" in tree["children"][1]
    assert cut["children"][1]["truncated"]
    assert "children" not in cut["children"][1]
    assert part == tree["children"][1]
    assert faulty(client, "/models/melons/versions/1/tree?depth=0&node=-1") == ["node", "depth"]


def test_every_tree_of_a_sequence_can_be_asked_for(
    client: FlaskClient, store: Store, houses: str
) -> None:
    path = f"/models/{houses}/versions/1"
    version = get(client, path)
    alphas = version["metrics"]["notes"]["sequence"]["alpha"]
    leaves = version["metrics"]["notes"]["sequence"]["leaves"]
    served = walked(client, f"{path}/nodes?", 3)

    assert len(served) == version["nodes"]
    assert served == walked(client, f"{path}/nodes?alpha={version['alpha']!r}&", 3)
    for alpha, n_leaves in zip(alphas, leaves, strict=True):
        nodes = walked(client, f"{path}/nodes?alpha={alpha!r}&", 2)
        tree = get(client, f"{path}/tree?alpha={alpha!r}")
        assert sum(node["state"] == "leaf" for node in nodes) == n_leaves
        assert flat(tree) == [(node["node"], node["attribute"]) for node in nodes]
    assert get(client, f"{path}/tree") == get(client, f"{path}/tree?alpha={version['alpha']!r}")
    assert "children" not in get(client, f"{path}/tree?alpha=1e9")
    assert len(get(client, f"{path}/nodes?alpha=1e999")["items"]) == 1
    problem(client.get(f"{path}/tree?alpha=1e9&node=1"), 404)


def flat(tree: dict[str, Any]) -> list[tuple[int, str | None]]:
    """The nodes of a nested tree by their numbers, with what they split on."""
    below = [each for child in tree.get("children", []) for each in flat(child)]
    return sorted([(tree["node"], tree.get("attribute")), *below])


def test_predictions_are_those_of_the_tree_that_is_served(
    client: FlaskClient, store: Store
) -> None:
    params = {"preset": "cart", "min_weight": 2, "alpha": 1e9}
    trained(store, **a_house_order(params=params))
    version = get(client, "/models/houses/versions/1")
    answer = client.post("/predict", json={"model": "houses", "rows": [{"rooms": 8}]}).json

    assert (version["alpha"], version["nodes"], version["leaves"], version["depth"]) == (
        1e9, 1, 1, 0,
    )  # fmt: skip
    assert answer is not None
    assert answer["predictions"][0]["value"] == pytest.approx(
        sum(house["price"] for house in HOUSES) / len(HOUSES)
    )
    assert len(get(client, "/models/houses/versions/1/nodes?alpha=0")["items"]) > 1


@pytest.mark.parametrize("alpha", ["-1", "nan", "inf", "1_0", "", "many"])
def test_an_alpha_is_a_number_not_below_0(
    client: FlaskClient, store: Store, houses: str, alpha: str
) -> None:
    for part in ("nodes", "tree"):
        assert faulty(client, f"/models/{houses}/versions/1/{part}?alpha={alpha}") == ["alpha"]


def test_a_version_without_a_sequence_has_one_tree(client: FlaskClient, melons: str) -> None:
    for part in ("nodes", "tree"):
        assert faulty(client, f"/models/melons/versions/1/{part}?alpha=0") == ["alpha"]


def test_subsets_and_ranks_are_told_in_nodes_and_tree(client: FlaskClient, store: Store) -> None:
    size = {"name": "size", "kind": "ordinal", "values": ["s", "m", "l"]}
    rows = [
        {"size": size, "colour": colour, "y": (size == "s") + 2 * (colour in "rg") > 1}
        for size in "sml"
        for colour in "rgb"
    ]
    params = {"preset": "gini", "categorical": "subset"}
    trained(store, model="s", target="y", data={"rows": rows}, attributes=[size], params=params)
    trained(
        store, model="o", target="y", params=params, attributes=[size, IGNORED],
        data={"rows": [row | {"y": row["size"] == "s"} for row in rows]},
    )  # fmt: skip
    subset = get(client, "/models/s/versions/1/nodes")["items"]
    ordinal = get(client, "/models/o/versions/1/nodes")["items"]
    tree = get(client, "/models/o/versions/1/tree")

    assert subset[0]["split"] == "subset"
    assert {(node["operator"], tuple(node["categories"] or ())) for node in subset[1:]} == {
        ("in", ("r", "g")), ("=", ()),
    }  # fmt: skip
    assert [(node["operator"], node["threshold"], node["category"]) for node in ordinal[1:]] == [
        ("<=", 0.0, "s"), (">", 0.0, "s"),
    ]  # fmt: skip
    assert [child["value"] for child in tree["children"]] == ["s", "s"]


def test_models_are_found_by_their_task(client: FlaskClient, melons: str, houses: str) -> None:
    assert names(client, "task=regression&", 5) == ["houses"]
    assert names(client, "task=classification&", 5) == ["melons"]
    assert faulty(client, "/models?task=x") == ["task"]


def test_a_tree_that_is_deeper_than_can_be_told_is_told_a_hundred_levels_at_a_time(
    client: FlaskClient, store: Store
) -> None:
    rows = [{"x": number, "y": number % 2} for number in range(260)]
    trained(store, model="deep", target="y", data={"rows": rows})
    told = get(client, "/models/deep/versions/1/tree")
    levels = 0
    while "children" in told:
        told = told["children"][-1]
        levels += 1

    assert get(client, "/models/deep/versions/1")["depth"] > 200
    assert levels == 100
    assert told["truncated"]
    assert get(client, f"/models/deep/versions/1/tree?node={told['node']}")["children"]


def test_names_and_values_in_any_script_come_back_as_they_are(
    client: FlaskClient, store: Store
) -> None:
    rows = [{"色泽": "青绿", "好瓜": "是"}, {"色泽": "乌黑🍉", "好瓜": "否"}]
    trained(store, model="西瓜", target="好瓜", data={"rows": rows})
    answer = client.post("/predict", json={"model": "西瓜", "rows": [{"色泽": "乌黑🍉"}]})
    nodes = get(client, "/models/西瓜/versions/1/nodes")["items"]

    assert '"否"' in answer.text
    assert [node["category"] for node in nodes] == [None, "青绿", "乌黑🍉"]
    assert pointers(client.post("/predict", json={"model": "西瓜", "rows": [{"色": 1}]})) == [
        "/rows/0/色"
    ]


def test_an_alias_is_made_moved_and_removed_and_each_move_is_kept(
    client: FlaskClient, store: Store, melons: str
) -> None:
    trained(store)
    path = "/models/melons/aliases/champion"
    made = client.put(path, json={"version": 1})
    moved = client.put(path, json={"version": 2})
    told = get(client, path)
    removed = client.delete(path)
    history = get(client, f"{path}/history")["items"]

    assert (made.status_code, moved.status_code, removed.status_code) == (201, 200, 204)
    assert told == moved.json == {"model": "melons", "alias": "champion", "version": 2}
    assert [move["version"] for move in history] == [None, 2, 1]
    assert all(move["moved_at"].endswith("Z") for move in history)
    problem(client.get(path), 404)
    problem(client.delete(path), 404)


@pytest.mark.parametrize("alias", ["12", "a%20b", "a@b", "x" * 101, "%0A"])
def test_an_alias_must_be_a_name_and_no_number(melon_client: FlaskClient, alias: str) -> None:
    told = problem(melon_client.put(f"/models/melons/aliases/{alias}", json={"version": 1}), 422)

    assert [error["parameter"] for error in told["errors"]] == ["alias"]


@pytest.mark.parametrize("version", [0, "1", True, None, 2**31, 1.5])
def test_an_alias_names_a_version_by_its_number(melon_client: FlaskClient, version: object) -> None:
    answer = melon_client.put("/models/melons/aliases/champion", json={"version": version})

    assert pointers(answer) == ["/version"]


def test_an_alias_cannot_name_what_there_is_not(client: FlaskClient, melons: str) -> None:
    problem(client.put("/models/melons/aliases/champion", json={"version": 2}), 404)
    problem(client.put("/models/x/aliases/champion", json={"version": 1}), 404)
