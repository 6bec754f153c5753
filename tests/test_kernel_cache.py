"""Compiled kernels that are kept for the next process, and processes that cannot keep any."""

import ctypes
import json
import os
import resource
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DROP_FROM_BOUNDING_SET, DAC_OVERRIDE = 24, 1  # of prctl; what lets root write everywhere
PRCTL = ctypes.CDLL(None).prctl
NOWHERE = Path("/dev/null/kernels")

Told = tuple[list[float], int, int]  # the answers, how many were compiled, how many were kept


def test_what_one_process_compiled_the_next_one_loads(tmp_path: Path) -> None:
    assert ([6], 1, 0) == doubled(tmp_path, "3")
    assert ([8], 0, 1) == doubled(tmp_path, "4")


def test_a_kernel_is_kept_for_each_type_it_was_called_with(tmp_path: Path) -> None:
    doubled(tmp_path, "3")

    assert ([6, 5.0], 1, 1) == doubled(tmp_path, "3", "2.5")
    assert ([5.0, 6], 0, 2) == doubled(tmp_path, "2.5", "3")


def test_processes_that_compile_at_once_do_not_mix_up_their_types(tmp_path: Path) -> None:
    types = ("3", "2.5", "true")
    processes = [started(tmp_path, each) for each in types]
    told = [finished(process)[0] for process in processes]

    assert [[6], [5.0], [2]] == told
    assert ([6, 5.0, 2], 0, 3) == doubled(tmp_path, *types)


def test_what_is_kept_is_read_where_nothing_can_be_written(tmp_path: Path) -> None:
    doubled(tmp_path, "3")

    with read_only(tmp_path):
        assert ([6], 0, 1) == doubled(tmp_path, "3", before=obey_permissions)
        assert ([6, 5.0], 1, 1) == doubled(tmp_path, "3", "2.5", before=obey_permissions)


def test_without_a_place_to_keep_it_a_kernel_is_compiled_all_the_same(tmp_path: Path) -> None:
    assert ([6], 1, 0) == doubled(NOWHERE, "3")
    with read_only(tmp_path):
        assert ([6], 1, 0) == doubled(tmp_path, "3", before=obey_permissions)

    assert not any(tmp_path.iterdir())


def test_a_full_disk_keeps_no_kernel_from_being_compiled(tmp_path: Path) -> None:
    assert ([6], 1, 0) == doubled(tmp_path, "3", before=write_no_byte)
    assert ([6], 1, 0) == doubled(tmp_path, "3")


@pytest.mark.parametrize(("ending", "left"), [("nbi", 0), ("nbi", 20), ("nbc", 20)])
def test_a_file_that_was_half_written_is_written_anew(
    tmp_path: Path, ending: str, left: int
) -> None:
    doubled(tmp_path, "3")
    for file in tmp_path.rglob(f"*.{ending}"):
        os.truncate(file, left)

    assert ([6], 1, 0) == doubled(tmp_path, "3")
    assert ([6], 0, 1) == doubled(tmp_path, "3")


def test_kernels_run_without_a_compiler_too(tmp_path: Path) -> None:
    assert ([6], 0, 0) == doubled(tmp_path, "3", NUMBA_DISABLE_JIT="1")


CALLS = """
from service.tree.kernels.compile import kernel
from service.tree.kernels.called import called

@kernel
def calls(number):
    return called(number)

print(calls(1))
"""
CALLED = """
from service.tree.kernels.compile import kernel
from service.tree.constant import CONSTANT

@kernel
def called(number):
    return number + CONSTANT
"""


def test_a_kernel_is_compiled_anew_when_one_that_it_calls_or_a_constant_has_changed(
    tmp_path: Path,
) -> None:
    kernels = tmp_path / "service" / "tree" / "kernels"
    kernels.mkdir(parents=True)
    for package in (kernels, *kernels.parents[:2]):
        (package / "__init__.py").touch()
    for name in ("sources.py", "kernels/cache.py", "kernels/compile.py"):
        shutil.copy(ROOT / "service" / "tree" / name, kernels.parent / name)
    (kernels / "calls.py").write_text(CALLS)
    (kernels / "called.py").write_text(CALLED)
    (kernels.parent / "constant.py").write_text("CONSTANT = 1")
    command = [sys.executable, "-m", "service.tree.kernels.calls"]
    environment = variables(tmp_path / "kept") | {"PYTHONDONTWRITEBYTECODE": "1"}

    def told() -> str:
        return subprocess.check_output(command, cwd=tmp_path, env=environment, text=True).strip()

    assert "2" == told()
    (kernels.parent / "constant.py").write_text("CONSTANT = 2")
    assert "3" == told()
    (kernels / "called.py").write_text(CALLED.replace("+", "-"))
    assert "-1" == told()


def doubled(
    kept: Path, *numbers: str, before: Callable[[], object] | None = None, **more: str
) -> Told:
    """What a process tells that has to double these numbers."""
    return finished(started(kept, *numbers, before=before, **more))


def finished(process: "subprocess.Popen[str]") -> Told:
    answers, n_compiled, n_loaded = json.loads(process.communicate()[0])
    return answers, n_compiled, n_loaded


def started(
    kept: Path, *numbers: str, before: Callable[[], object] | None = None, **more: str
) -> "subprocess.Popen[str]":
    return subprocess.Popen(
        [sys.executable, "-m", "tests.doubled", *numbers],
        cwd=ROOT,
        env=variables(kept) | more,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=before,
    )


def variables(kept: Path) -> dict[str, str]:
    return {**os.environ, "NUMBA_CACHE_DIR": str(kept), "NUMBA_DISABLE_JIT": "0"}


@contextmanager
def read_only(directory: Path) -> Iterator[None]:
    """A block in which nothing can be made or changed there by who obeys permissions."""
    below = [directory, *(each for each in directory.rglob("*") if each.is_dir())]
    for each in below:
        each.chmod(0o555)
    try:
        yield
    finally:
        for each in below:
            each.chmod(0o755)


def obey_permissions() -> None:
    """Have the program that is started obey permissions even as root; others do anyway."""
    PRCTL(DROP_FROM_BOUNDING_SET, DAC_OVERRIDE)


def write_no_byte() -> None:
    """Have the program that is started fail to write, as it would on a full disk."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
