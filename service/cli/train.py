"""`bough train file.csv --target y`: a file becomes a dataset, a job and a version, watched."""

import re
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import click
from marshmallow import ValidationError

from service.actions import submit
from service.actions.request import write_request
from service.actions.sweep import discard
from service.actions.upload import asked, spooled, upload
from service.cli.processes import (
    WORKER,
    data_option,
    environment_with,
    migrated,
    started,
    told_plainly,
)
from service.cli.summary import summary
from service.errors import BoughError, InvalidData, InvalidFile
from service.files.place import chunks_of, open_place
from service.settings import Settings, read_settings
from service.storage import jobs
from service.storage.engine import Store
from service.storage.records import UNDER_WAY, Job, JobState, NewJob, StoredDataset, Terms
from service.storage.versions import fetch_version
from service.tree.params import DEFAULT_PRESET, PRESETS
from service.web.names import CHARACTERS, LONGEST
from service.web.order import read_order
from service.web.train_schemas import TrainSchema

WATCH_SECONDS = 0.2
WISHES = ("delimiter", "decimal", "numeric", "categorical")  # options on how the file is read


@click.command()
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--target", required=True, help="The column to predict.")
@click.option("--model", help="Name of the model; the file's own without its ending by default.")
@click.option("--preset", type=click.Choice(list(PRESETS)), default=DEFAULT_PRESET, help="How.")
@click.option("--ignore", multiple=True, help="A column to leave out; may be given again.")
@click.option("--null", multiple=True, help="A text that means null in CSV, such as NA.")
@click.option("--numeric", multiple=True, help="A column that must be numbers.")
@click.option(
    "--categorical", multiple=True, help="A column of categories, whatever it looks like."
)
@click.option("--delimiter", help="Of CSV; comma, semicolon, tab and | are found out.")
@click.option("--decimal", type=click.Choice([".", ","]), default=".", help="Of numbers in CSV.")
@data_option
def train(file: Path, target: str, model: str | None, **options: Any) -> None:
    """Train a tree on a file: CSV, NDJSON or Parquet, gzipped or not.

    It needs no server. The version is kept where `bough run` with the same --data looks; of the
    file nothing is kept.
    """
    environment = environment_with({"data": options["data"]})
    with told_fully():
        settings = read_settings(environment)
        store = migrated(settings)
        order = _order(model or _name(file), target, options)
        dataset = _read(store, settings, file, options)
        with _kept_meanwhile(store, dataset):
            job = _submit(store, settings, dataset, order)
            with started(WORKER, environment | {"BOUGH_LOG_LEVEL": "ERROR"}) as worker:
                job = _watch(store, job, worker)
        _conclude(store, job)


@contextmanager
def _kept_meanwhile(store: Store, dataset: StoredDataset) -> Iterator[None]:
    """A block in which the dataset is needed, and after which it is gone."""
    try:
        yield
    finally:
        with suppress(BoughError):  # a worker of somebody else's may still read it
            discard(store, dataset.id)


@contextmanager
def told_fully() -> Iterator[None]:
    """A block whose foreseeable errors end the program with all there is to say."""
    with told_plainly():
        try:
            yield
        except ValidationError as error:
            raise click.ClickException(_misfits(error.messages)) from error
        except InvalidFile as error:
            told = [_spot(each.line, each.column) + each.detail for each in error.misfits]
            raise click.ClickException("\n  ".join([str(error), *told])) from error
        except InvalidData as error:
            told = [each.detail for each in error.faults if each.detail != str(error)]
            raise click.ClickException("\n  ".join([str(error), *told])) from error


def _misfits(messages: Any) -> str:
    """What is wrong with an order, field by field."""
    return "\n  ".join(f"{field}: {why[0]}" for field, why in messages.items())


def _spot(line: int | None, column: str | None) -> str:
    where = [f"line {line}"] if line is not None else []
    where += [f"column {column!r}"] if column is not None else []
    return f"{', '.join(where)}: " if where else ""


def _read(
    store: Store, settings: Settings, file: Path, options: Mapping[str, Any]
) -> StoredDataset:
    wishes = {name: options[name] for name in WISHES} | {"nulls": options["null"]}
    with file.open("rb") as opened, spooled(chunks_of(opened), open_place(settings)) as sent:
        dataset = upload(store, settings, sent, file.name, asked(settings, wishes))
    click.echo(f"{file.name}: {dataset.n_rows:,} rows, {len(dataset.columns)} columns")
    return dataset


def _name(file: Path) -> str:
    """The name of a file without its endings, as a model may have it."""
    fitting = re.findall(CHARACTERS, file.name.split(".")[0])
    return "".join(fitting)[:LONGEST] or "model"


def _order(model: str, target: str, options: Mapping[str, Any]) -> Mapping[str, Any]:
    """The order, which does not know yet which dataset the file will be."""
    order: Mapping[str, Any] = TrainSchema().load(
        {
            "model": model,
            "target": target,
            "data": {"dataset": ""},
            "attributes": [{"name": name, "kind": "ignored"} for name in options["ignore"]],
            "params": {"preset": options["preset"]},
        }
    )
    return order


def _submit(
    store: Store, settings: Settings, dataset: StoredDataset, order: Mapping[str, Any]
) -> Job:
    named = {**order, "data": {"dataset": dataset.id}}
    request = read_order(named, settings.max_train_cells, dataset)
    _, odd = submit.preview(request, dataset)
    for each in odd:
        click.echo(f"  {each.detail}", err=True)
    new = NewJob(request.model, write_request(request), dataset=dataset.id)
    with store.writing() as session:
        return submit.submit(session, new, settings.max_attempts, Terms()).job


def _watch(store: Store, job: Job, worker: "subprocess.Popen[bytes]") -> Job:
    """The job once it has ended, or was cancelled because nobody waits for it any more."""
    try:
        with click.progressbar(length=1000, label="Training", item_show_func=_stage) as bar:
            while job.state in UNDER_WAY:
                bar.update(round(1000 * job.progress.fraction) - bar.pos, job)
                time.sleep(WATCH_SECONDS)
                if worker.poll() is not None:
                    raise click.ClickException("The worker has ended by itself.")
                with store.reading() as session:
                    job = jobs.fetch_job(session, job.id)
            bar.update(1000 - bar.pos if job.state == JobState.SUCCEEDED else 0, job)
    except (KeyboardInterrupt, click.ClickException):
        with store.writing() as session:
            jobs.cancel(session, job.id)
        raise
    return job


def _stage(job: Job | None) -> str | None:
    return f"{job.progress.stage}, {job.progress.nodes:,} nodes" if job else None


def _conclude(store: Store, job: Job) -> None:
    if job.state != JobState.SUCCEEDED:
        error = job.error or {"detail": f"The job was {job.state}."}
        told = [each["detail"] for each in error.get("errors", [])]
        raise click.ClickException("\n  ".join([error["detail"], *told]))
    with store.reading() as session:
        version = fetch_version(session, job.model, job.version)
    click.echo("\n".join([*summary(version), f"It is kept in {store.place}"]))
