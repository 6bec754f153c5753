"""Many small models, trained over HTTP once and kept in .bench/, and what is sent to each."""

import json
import sys
from pathlib import Path

import httpx

from bench.data import Recipe, Rows, make
from bench.serving.bodies import named_rows
from bench.serving.cells import DIGITS, N_ATTRIBUTES
from bench.serving.ours import PATIENCE, order, training
from bench.serving.places import ENVIRONMENTS
from service.storage import nodes
from service.storage.engine import open_store
from service.storage.versions import fetch_version
from service.tree.compiled import compile_tree
from tests.server import ended

N_ROWS = 2_000  # to train on
N_ASKED = 200
COMPLETE = "complete"
MIN_WEIGHT = 1


def name_of(number: int) -> str:
    """What a model is called."""
    return f"model-{number:04}"


def rows_of(number: int, nulls: float = 0.0) -> tuple[Rows, Rows]:
    """Rows to train a model on, and others to ask about."""
    recipe = Recipe(N_ROWS, n_numeric=N_ATTRIBUTES, seed=number, nulls=nulls)
    training_rows, asked = make(recipe, n_held=N_ASKED)
    for rows in (training_rows, asked):
        rows.values[:] = rows.values.round(DIGITS)
    return training_rows, asked


def store_of(n_models: int) -> Path:
    """The data of a service that has so many models."""
    place = ENVIRONMENTS / f"models-{n_models}"
    place.mkdir(parents=True, exist_ok=True)
    if not (place / COMPLETE).exists():
        print(f"training {n_models} models into {place}", file=sys.stderr, flush=True)
        with training(place) as client:
            _train(client, n_models)
        (place / COMPLETE).touch()
    return place


def _train(client: httpx.Client, n_models: int) -> None:
    there = set()
    for number in range(n_models):  # those that an interrupted run has left
        if client.get(f"/models/{name_of(number)}").status_code == 200:
            there.add(number)
    sent = [
        client.post("/train", json=_order(number)).raise_for_status().json()
        for number in range(n_models)
        if number not in there
    ]
    for job in sent:
        if ended(client, job, PATIENCE)["state"] != "succeeded":
            raise RuntimeError(f"{job['model']} was not trained")


def _order(number: int) -> dict[str, object]:
    return order(name_of(number), rows_of(number)[0], min_weight=MIN_WEIGHT)


def write_questions(directory: Path, numbers: range, n_rows: int) -> list[Path]:
    """One file for each model: some rows, a tenth of whose values is null."""
    files = []
    for number in numbers:
        asked = rows_of(number, nulls=0.1)[1].some(slice(n_rows))
        file = directory / f"{name_of(number)}.{n_rows}"
        file.write_bytes(named_rows(name_of(number), asked))
        files.append(file)
    return files


def array_bytes(data: Path, numbers: range) -> list[int]:
    """How much the arrays of each model take."""
    store = open_store(f"sqlite:///{data / 'bough.db'}")
    found = []
    with store.reading() as session:
        for number in numbers:
            version = fetch_version(session, name_of(number), 1)
            tree = nodes.served(nodes.load_tree(session, version), version.alpha)
            found.append(compile_tree(tree, version.attributes, version.classes).n_bytes)
    store.dispose()
    return found


def answered_version(answer: bytes) -> int:
    """The version that an answer is from."""
    return int(json.loads(answer)["version"])
