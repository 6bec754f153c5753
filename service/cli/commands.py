"""The commands: `bough run` for one machine; serve, worker and migrate for many."""

import errno
import socket
import subprocess
import time
from collections.abc import Callable, Mapping
from threading import Thread
from typing import Any

import click

from service.cli.processes import (
    GUNICORN,
    WARM,
    WORKER,
    become,
    data_option,
    environment_with,
    migrated,
    started,
    told_plainly,
)
from service.cli.train import train
from service.jobs.stop import Stop, stop_on_signals
from service.settings import Settings, read_settings
from service.storage.engine import open_store
from service.web import create_app, openapi_yaml

SHORT_LIFE = 10.0  # seconds; a worker that ends sooner, and again, will not do better
MOST_SHORT_LIVES = 3

Command = Callable[..., Any]


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="bough")
def main() -> None:
    """Bough trains, keeps, serves and explains decision trees.

    Every setting is an environment variable BOUGH_...; see docs/operations.md.
    """


main.add_command(train)


def address_options(command: Command) -> Command:
    """The command with options for where to listen."""
    host = click.option("--host", help="Address to listen on; 127.0.0.1 unless told otherwise.")
    port = click.option("--port", type=click.IntRange(1, 65535), help="Port; 8000 by default.")
    return host(port(command))


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
def warm() -> None:
    """Compile the kernels ahead, so that no training waits for it."""
    environment = environment_with({})
    with told_plainly():
        settings = read_settings(environment)
    become(WARM, environment | settings.kernel_variables)


@main.command()
def openapi() -> None:
    """Print the description of the HTTP API."""
    app = create_app(read_settings({}), open_store("sqlite://"))
    click.echo(openapi_yaml(app), nl=False)


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
