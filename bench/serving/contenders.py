"""The servers: how each is started for a scene, and how it takes rows."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.peers.places import ROOT
from bench.serving import bodies
from bench.serving.bodies import Form
from bench.serving.ours import Wishes, command_to
from bench.serving.places import program, python_of
from bench.serving.processes import Launch
from bench.serving.scenes import Stage
from tests.server import free_port

# What both the floor and whoever else runs under gunicorn take over from our configuration.
SETTINGS = """
import json
from gunicorn.config import KNOWN_SETTINGS
from service import gunicorn_conf
names = {each.name for each in KNOWN_SETTINGS} - {"wsgi_app"}
print(json.dumps({name: value for name, value in vars(gunicorn_conf).items()
                  if name in names and isinstance(value, (bool, int, float, str))}))
"""


@dataclass(frozen=True)
class Site:
    """What a server needs to know to be started."""

    stage: Stage
    port: int
    wishes: Wishes

    @property
    def variables(self) -> dict[str, str]:
        """What the peers read."""
        return {
            "BENCH_DIRECTORY": str(self.stage.directory),
            "BENCH_DEPTH": str(self.stage.scene.depth),
            "BENCH_WORKERS": str(self.wishes.n_workers),
            **self.wishes.variables,
        }


@dataclass(frozen=True)
class Contender:
    """A server."""

    name: str
    form: Form
    launch: Callable[[Site], Launch | None]  # None: it is not there


def our_service(site: Site) -> Launch:
    """The service as it is, on the data it was trained on."""
    return Launch(command_to("serve", site.port, site.stage.data), site.variables, ROOT)


def floor(site: Site) -> Launch:
    """Flask and orjson, in our environment."""
    return under_gunicorn(site, Path(sys.executable), "bench.serving.floor:create_app()")


def wire(site: Site) -> Launch:
    """Nothing but the sending to and fro, in our environment."""
    return under_gunicorn(site, Path(sys.executable), "bench.serving.wire:create_app()")


def under_gunicorn(site: Site, python: Path, app: str) -> Launch:
    """An application under gunicorn, with the settings that our service has."""
    conf = site.stage.directory / "gunicorn_conf.py"
    settings = gunicorn_settings(site.wishes).items()
    conf.write_text("".join(f"{name} = {value!r}\n" for name, value in settings))
    words = ["-m", "gunicorn", "--config", str(conf), "--bind", f"127.0.0.1:{site.port}", app]
    return Launch([str(python), *words], site.variables, ROOT)


def gunicorn_settings(wishes: Wishes) -> dict[str, Any]:
    """How our service has gunicorn set up, but for what only it can have."""
    command = [sys.executable, "-c", SETTINGS]
    surroundings = os.environ | wishes.variables
    told = subprocess.run(command, cwd=ROOT, env=surroundings, check=True, stdout=subprocess.PIPE)
    settings: dict[str, Any] = json.loads(told.stdout)
    return settings


def flask_peer(site: Site) -> Launch | None:
    """Flask, marshmallow and scikit-learn."""
    python = _with_a_tree(site, "flask", "trees")
    return under_gunicorn(site, python, "bench.serving.peers.flask_app:app") if python else None


def fastapi_peer(site: Site) -> Launch | None:
    """FastAPI, pydantic and scikit-learn."""
    python = _with_a_tree(site, "fastapi", "trees")
    words = ["-m", "uvicorn", "--no-access-log", "--log-level", "warning"]
    words += ["--workers", str(site.wishes.n_workers), "--port", str(site.port)]
    words += ["bench.serving.peers.fastapi_app:app"]
    return Launch([str(python), *words], site.variables, ROOT) if python else None


def mlserver(n_workers: int) -> Callable[[Site], Launch | None]:
    """MLServer and scikit-learn; without workers of its own it is one process."""

    def launch(site: Site) -> Launch | None:
        python = _with_a_tree(site, "mlserver", "trees")
        place = site.stage.directory / f"mlserver-{n_workers}"
        place.mkdir(exist_ok=True)
        ports = {"http_port": site.port, "grpc_port": free_port(), "metrics_port": free_port()}
        more = {"host": "127.0.0.1", "parallel_workers": n_workers, "debug": False}
        tree = str(site.stage.directory / "mlserver.joblib")
        kind = "mlserver_sklearn.SKLearnModel"
        model = {"name": "tree", "implementation": kind, "parameters": {"uri": tree}}
        (place / "settings.json").write_text(json.dumps(ports | more))
        (place / "model-settings.json").write_text(json.dumps(model))
        if python is None:
            return None
        command = [program(python, "mlserver"), "start", str(place)]
        return Launch(command, site.variables, place)

    return launch


def mlflow(site: Site) -> Launch | None:
    """MLflow and scikit-learn, as its own command serves them."""
    python = _with_a_tree(site, "mlflow", "mlflow_model")
    if python is None:
        return None
    words = ["models", "serve", "--model-uri", str(site.stage.directory / "mlflow")]
    words += ["--env-manager", "local", "--workers", str(site.wishes.n_workers)]
    words += ["--host", "127.0.0.1", "--port", str(site.port)]
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"  # it calls programs by name
    variables = site.variables | {"PATH": path, "MLFLOW_DISABLE_TELEMETRY": "true"}
    return Launch([program(python, "mlflow"), *words], variables, site.stage.directory)


def bentoml(site: Site) -> Launch | None:
    """BentoML and scikit-learn."""
    python = _with_a_tree(site, "bentoml", "trees")
    words = ["-m", "bentoml", "serve", "bench.serving.peers.bento_app:Served"]
    words += ["--host", "127.0.0.1", "--port", str(site.port)]
    variables = site.variables | {
        "BENTOML_DO_NOT_TRACK": "True",
        "BENTOML_HOME": str(site.stage.directory / "bentoml"),
    }
    return Launch([str(python), *words], variables, ROOT) if python else None


def _with_a_tree(site: Site, peer: str, maker: str) -> Path | None:
    """The Python of a peer, which has grown its tree; None if it is not there."""
    python = python_of(peer)
    if python is not None:
        command = [str(python), "-m", f"bench.serving.peers.{maker}"]
        variables = os.environ | site.variables | {"MLFLOW_DISABLE_TELEMETRY": "true"}
        subprocess.run(command, cwd=ROOT, env=variables, check=True, capture_output=True)
    return python


FLOOR, OURS = Contender("floor", bodies.FLOOR, floor), Contender("ours", bodies.OURS, our_service)
COLUMNS = Contender("ours, columns", bodies.COLUMNS, our_service)
ARROW = Contender("ours, Arrow", bodies.ARROW, our_service)
WIRE = Contender("the wire, Arrow", bodies.WIRE, wire)
CONTENDERS = {
    "floor": FLOOR,
    "ours": OURS,
    "columns": COLUMNS,
    "arrow": ARROW,
    "wire": WIRE,
    "fastapi": Contender("FastAPI + pydantic", bodies.OBJECTS, fastapi_peer),
    "flask": Contender("Flask + marshmallow", bodies.OBJECTS, flask_peer),
    "mlserver": Contender("MLServer, 1 process", bodies.TENSOR, mlserver(0)),
    "mlserver-workers": Contender("MLServer, 2 workers", bodies.TENSOR, mlserver(2)),
    "mlflow": Contender("MLflow", bodies.INPUTS, mlflow),
    "bentoml": Contender("BentoML", bodies.MATRIX, bentoml),
}
