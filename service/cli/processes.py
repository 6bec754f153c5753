"""The processes that commands start, and what they have in common."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import click

from service.confine import be_told_of_death
from service.errors import BoughError
from service.files.place import open_place
from service.settings import PREFIX, Settings
from service.storage.engine import Store, open_store
from service.storage.migrate import upgrade

# -P: what lies in the current directory must not be taken for one of our modules.
GUNICORN = ("-P", "-m", "gunicorn", "--config", "python:service.gunicorn_conf")
WORKER = ("-P", "-m", "service.jobs")
WARM = ("-P", "-m", "service.jobs.warm")  # a process of its own, as it takes numba to import it
PATIENCE = 40.0  # seconds to stop in; the web server gives its last requests 30

Command = Callable[..., Any]


def data_option(command: Command) -> Command:
    """The command with an option for where the embedded database lives."""
    kind = click.Path(file_okay=False, path_type=Path)
    return click.option("--data", type=kind, help="Directory of the data; ./data by default.")(
        command
    )


def environment_with(options: Mapping[str, object]) -> dict[str, str]:
    """The environment for us and our children, with what the command line says on top."""
    given = {PREFIX + name.upper(): str(value) for name, value in options.items() if value}
    return {**os.environ, **given}


@contextmanager
def told_plainly() -> Iterator[None]:
    """A block whose foreseeable errors end the program with a sentence."""
    try:
        yield
    except (BoughError, ValueError, OSError) as error:
        raise click.ClickException(str(error)) from error


def migrated(settings: Settings) -> Store:
    """The store of these settings, with the schema of this release and no connection open."""
    open_place(settings)  # to say now what every upload and job would say
    store = open_store(settings.url)
    upgrade(store)
    store.dispose()
    return store


def become(arguments: tuple[str, ...], environment: Mapping[str, str]) -> NoReturn:
    """Replace this process, so that signals reach whom they are meant for."""
    os.execve(sys.executable, [sys.executable, *arguments], environment)


@contextmanager
def started(
    arguments: tuple[str, ...], environment: Mapping[str, str]
) -> Iterator[subprocess.Popen[bytes]]:
    """A child process, stopped at the end of the block."""
    child = subprocess.Popen(
        [sys.executable, *arguments],
        env=environment,
        process_group=0,  # Ctrl-C comes to us alone, and we stop them in order
        preexec_fn=partial(be_told_of_death, signal.SIGTERM),
    )
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
