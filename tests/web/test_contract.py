"""The service keeps the contract that openapi.yaml states, also when it is asked badly."""

import re
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from flask import Flask
from hypothesis import HealthCheck, settings
from schemathesis import Case, GenerationMode
from schemathesis.config import SchemathesisConfig

from service.storage import aliases, jobs
from service.storage.engine import Store, open_store
from service.storage.records import NewJob
from service.web import create_app, examples, openapi_yaml
from tests.web.conftest import MELONS, SETTINGS, trained

OPENAPI = Path(__file__).parents[2] / "openapi.yaml"
EXAMPLES = 40  # an operation; the checks of the schemas' edges come on top
# What a schema cannot say: that a target is one of the columns, an attribute one of the model, or
# that a version has a cost-complexity sequence.
FITTING_DATA = ["2xx", "404", "409", "422"]
NEED_FITTING_DATA = (
    "train", "predict_rows", "predict_rows_with_model", "explain_rows", "evaluate_version",
    "list_nodes", "get_tree", "upload_dataset", "batch_predict",
)  # fmt: skip
config = SchemathesisConfig.from_dict(
    {
        "seed": 0,
        "generation": {"deterministic": True, "max-examples": EXAMPLES},
        "operations": [
            {
                "include-operation-id": operation,
                "checks": {"positive_data_acceptance": {"expected-statuses": FITTING_DATA}},
            }
            for operation in NEED_FITTING_DATA
        ]
        # each upload that gets so far is read by a process of its own
        + [{"include-operation-id": "upload_dataset", "generation": {"max-examples": 5}}],
    }
)
schema = schemathesis.openapi.from_path(OPENAPI, config=config)


@schemathesis.serializer(
    "application/vnd.apache.parquet", "application/x-ndjson", "application/vnd.apache.arrow.stream"
)
def as_it_is(_context: Any, value: Any) -> bytes:
    """A file that is no file of its kind at all."""
    return value if isinstance(value, bytes) else str(value).encode()


@pytest.fixture(scope="module")
def app(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Flask]:
    """An app in which everything exists that the examples of the contract name."""
    path = tmp_path_factory.mktemp("contract") / "bough.db"
    shutil.copy(sqlite_template, path)
    store = open_store(f"sqlite:///{path}")
    fill(store)
    yield create_app(replace(SETTINGS, data=path.parent), store)
    store.dispose()


def fill(store: Store) -> None:
    """A plain tree, one with a sequence and costs, and one for a number."""
    trained(store)
    costly = [{"name": "density", "cost": 2, "group": "lab"}]
    trained(store, params={"preset": "cart"}, attributes=costly, groups={"lab": 1})
    weighed = {"rows": [row for row in MELONS if row["density"] is not None]}
    trained(store, params={"preset": "cart"}, target="density", data=weighed)
    with store.writing() as session:
        aliases.put_alias(session, "melons", "champion", 3)
        jobs.submit(session, examples.JOB_ID, NewJob("melons", b""), 3)


def ask_for_what_exists(case: Case) -> None:
    """A well-formed request names what there is, or else nearly every answer would be 404."""
    if case.meta is None or case.meta.generation.mode == GenerationMode.NEGATIVE:
        return
    case.query.pop("cursor", None)  # only a page before could tell it
    if "name" in case.path_parameters:
        case.path_parameters |= {"name": "melons"}
    if "version" in case.path_parameters:
        case.path_parameters |= {"version": 1 + int(case.path_parameters["version"]) % 3}
    if isinstance(case.body, dict) and "model" in case.body and "target" not in case.body:
        case.body |= {"model": "melons"}
    if isinstance(case.body, dict) and "rows" in case.body:
        case.body |= {"rows": [as_melon(row) for row in case.body["rows"]]}


def as_melon(row: dict[str, Any]) -> dict[str, Any]:
    """The values of a row under the names that the melons have."""
    return dict(zip(("colour", "ripe", "density"), row.values(), strict=False))


def test_openapi_yaml_is_not_stale(app: Flask) -> None:
    assert OPENAPI.read_text(encoding="utf-8") == openapi_yaml(app), "run ./dev openapi"


def contract_of(operation: str) -> Any:
    """The test of an operation."""
    others = rf"^(?!{operation}$)"  # by what to leave out: to be included is what all are already

    @schema.exclude(operation_id_regex=others).parametrize()
    @settings(suppress_health_check=list(HealthCheck), deadline=None)
    def keeps_it(case: Case, app: Flask) -> None:
        ask_for_what_exists(case)
        case.call_and_validate(app=app)

    return keeps_it


OPERATIONS = re.findall(r"operationId: (\w+)", OPENAPI.read_text(encoding="utf-8"))
# Each has a name of its own, by which tests are shared out to processes.
globals().update({f"test_{each}_keeps_the_contract": contract_of(each) for each in OPERATIONS})
