"""The command line: `bough run` for one machine; serve, worker and migrate for many."""

import ctypes
import errno
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any, NoReturn

import click

from service.errors import BoughError
from service.jobs.stop import Stop, stop_on_signals
from service.settings import PREFIX, Settings, read_settings
from service.storage.engine import Store, open_store
from service.storage.migrate import upgrade
from service.web import create_app, openapi_yaml

# -P: what lies in the current directory must not be taken for one of our modules.
GUNICORN = ("-P", "-m", "gunicorn", "--config", "python:service.gunicorn_conf")
WORKER = ("-P", "-m", "service.jobs")
SHORT_LIFE = 10.0  # seconds; a worker that ends sooner, and again, will not do better
MOST_SHORT_LIVES = 3
PATIENCE = 40.0  # seconds to stop in; the web server gives its last requests 30
SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG of Linux

Command = Callable[..., Any]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bough")
def main() -> None:
    """Bough trains, keeps, serves and explains decision trees.

    Every setting is an environment variable BOUGH_...; see docs/operations.md.
    """


def address_options(command: Command) -> Command:
    """The command with options for where to listen."""
    host = click.option("--host", help="Address to listen on; 127.0.0.1 unless told otherwise.")
    port = click.option("--port", type=click.IntRange(1, 65535), help="Port; 8000 by default.")
    return host(port(command))


def data_option(command: Command) -> Command:
    """The command with an option for where the embedded database lives."""
    kind = click.Path(file_okay=False, path_type=Path)
    return click.option("--data", type=kind, help="Directory of the data; ./data by default.")(
        command
    )


@main.command()
@address_options
@data_option
def run(**options: object) -> None:
    """Migrate, then run the web server and one worker together until Ctrl-C."""
    stop = stop_on_signals()
    environment = environment_with(options)
    with told_plainly():
        settings = read_settings(environment)
        check_address(settings)
        place = migrated(settings).place
    with started(GUNICORN, environment) as web:
        # beside the worker's start, which takes as long as the web server's
        Thread(target=announce, args=(web, settings, place), daemon=True).start()
        ended = attend(web, environment, stop)
    if ended is not None:
        raise click.ClickException(f"The {ended} has ended by itself, so everything was stopped.")
    click.echo("Bough has stopped.")


@main.command()
@address_options
@data_option
def serve(**options: object) -> None:
    """Run the web server."""
    environment = environment_with(options)
    with told_plainly():
        settings = read_settings(environment)
        check_address(settings)
        migrated(settings)
    become(GUNICORN, environment)


@main.command()
@data_option
def worker(**options: object) -> None:
    """Run one worker, which trains what was ordered."""
    environment = environment_with(options)
    with told_plainly():
        migrated(read_settings(environment))
    become(WORKER, environment)


@main.command()
@data_option
def migrate(**options: object) -> None:
    """Take the database to the schema of this release."""
    with told_plainly():
        place = migrated(read_settings(environment_with(options))).place
    click.echo(f"The database is up to date: {place}")


@main.command()
def openapi() -> None:
    """Print the description of the HTTP API."""
    app = create_app(read_settings({}), open_store("sqlite://"))
    click.echo(openapi_yaml(app), nl=False)


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
    store = open_store(settings.url)
    upgrade(store)
    store.dispose()
    return store


def check_address(settings: Settings) -> None:
    """Say so now if nobody could listen there; the web server would only try again and again."""
    try:
        found = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)
        family, _, _, _, address = found[0]
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        reason = "another program uses it" if error.errno == errno.EADDRINUSE else error.strerror
        raise click.ClickException(
            f"Cannot listen on {settings.address}: {reason}. Choose another with --port or --host."
        ) from error


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
        preexec_fn=die_with_parent if sys.platform == "linux" else None,
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


def die_with_parent() -> None:
    """Have this process told to stop should its parent be killed."""
    ctypes.CDLL(None).prctl(SET_DEATH_SIGNAL, signal.SIGTERM)


def announce(web: "subprocess.Popen[bytes]", settings: Settings, place: str) -> None:
    """Say where we listen as soon as we do."""
    while web.poll() is None:
        if answers(settings):
            address = f"http://{settings.address}"
            click.echo(f"Bough listens on {address} (try {address}/docs); its data is in {place}")
            return
        time.sleep(0.1)


def attend(
    web: "subprocess.Popen[bytes]", environment: Mapping[str, str], stop: Stop
) -> str | None:
    """Which process ended by itself for good, None when we were told to stop.

    A worker that was killed is replaced, so that predictions go on and its job is taken up again.
    """
    short_lives = 0
    while True:
        began = time.monotonic()
        with started(WORKER, environment) as worker:
            ended = watch({"web server": web, "worker": worker}, stop)
        if ended != "worker":
            return ended
        short_lives = short_lives + 1 if time.monotonic() - began < SHORT_LIFE else 0
        if short_lives == MOST_SHORT_LIVES:
            return ended
        click.echo("The worker has ended by itself; another one takes its place.", err=True)


def watch(children: Mapping[str, "subprocess.Popen[bytes]"], stop: Stop) -> str | None:
    """The child that ended by itself, None when we were told to stop."""
    while not stop.wait(0.2):
        for name, child in children.items():
            if child.poll() is not None:
                return name
    return None


def answers(settings: Settings) -> bool:
    """Whether somebody listens there."""
    try:
        socket.create_connection((settings.host, settings.port), timeout=1).close()
    except OSError:
        return False
    return True


if __name__ == "__main__":
    main()
