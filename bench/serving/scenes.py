"""A scene laid out: our models trained over HTTP, and everything that is to be sent, in files."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import httpx

from bench.data import TRAINING, Rows, save
from bench.serving import floor, wire
from bench.serving.bodies import ARROW, OURS, WIRE, Form
from bench.serving.cells import Cell, Scene, questions, rows_of
from bench.serving.load import Shot
from bench.serving.ours import PATIENCE, order, training
from tests.server import ended

MIN_WEIGHT = 5


@dataclass(frozen=True)
class Stage:
    """Where the files of a scene are, and the data of our service."""

    scene: Scene
    directory: Path
    data: Path

    def shot(self, cell: Cell, form: Form) -> Shot:
        """What is sent in a cell."""
        files = sorted((self.directory / cell.name).glob(f"{form.name}.*"))
        path = form.path.format(cell=cell.name, model=self.scene.name)
        return Shot(path, form.headers, tuple(files), cell.n_connections)


def lay_out(cells: Iterable[Cell], forms: Iterable[Form], directory: Path) -> list[Stage]:
    """The scenes of the cells, each with a model of ours that answers."""
    cells, forms, data = list(cells), list(forms), directory / "data"
    stages = []
    with training(data) as client:
        for scene in dict.fromkeys(cell.scene for cell in cells):
            stage = Stage(scene, directory / scene.name, data)
            rows, asked = rows_of(scene)
            stage.directory.mkdir()
            save(stage.directory, TRAINING, rows)
            train(client, scene, rows)
            for cell in cells:
                if cell.scene == scene:
                    write_bodies(stage, cell, forms, questions(cell, asked))
                    keep_answers(client, stage, cell, forms)
            stages.append(stage)
    return stages


def train(client: httpx.Client, scene: Scene, rows: Rows) -> None:
    """Comes back when the model of a scene is trained."""
    limits = {"max_depth": scene.depth, "min_weight": MIN_WEIGHT}
    sent = client.post("/train", json=order(scene.name, rows, **limits)).raise_for_status()
    job = ended(client, sent.json(), PATIENCE)
    if job["state"] != "succeeded":
        raise RuntimeError(f"The model {scene.name!r} was not trained: {job['error']}")


def write_bodies(stage: Stage, cell: Cell, forms: Iterable[Form], asked: list[Rows]) -> None:
    """One file for each body, in each form."""
    place = stage.directory / cell.name
    place.mkdir()
    for form in {form.name: form for form in (OURS, *forms)}.values():
        for number, rows in enumerate(asked):
            file = place / f"{form.name}.{number:03}"
            file.write_bytes(form.write(stage.scene.name, rows))


def keep_answers(client: httpx.Client, stage: Stage, cell: Cell, forms: Iterable[Form]) -> None:
    """Keeps what ours says to a body, of usual length: what the floor and the wire will say."""
    place = stage.directory / cell.name
    (place / floor.ANSWER).write_bytes(usual_answer(client, stage.shot(cell, OURS)))
    if WIRE in forms:
        (place / wire.ANSWER).write_bytes(usual_answer(client, stage.shot(cell, ARROW)))


def usual_answer(client: httpx.Client, shot: Shot) -> bytes:
    """The answer of middle length to what is sent."""
    answers = [
        client.post(shot.path, content=file.read_bytes(), headers=shot.headers)
        .raise_for_status()
        .content
        for file in shot.files
    ]
    return sorted(answers, key=len)[len(answers) // 2]
