"""Native code: found where it was compiled, and used only where it can be."""

import mmap
from pathlib import Path

import numpy as np
import pytest
from numba import types

from service.jobs import ahead
from service.settings import Settings
from service.tree.kernels.ahead import AHEAD
from service.tree.kernels.link import machine_code
from service.tree.native import HEAD, MAGIC, Native, checked, files, find_natives, headed

ROOT = Settings().kernel_root
ADDRESS = types.CPointer(types.float64)


def native(code: bytes) -> Native:
    """A kernel of this code, in memory of its own."""
    access = mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    mapped = mmap.mmap(-1, len(code), prot=access)
    mapped.write(code)
    return Native(mapped)


def halve(numbers, n):
    """Halves some numbers where they lie."""
    for place in range(n):
        numbers[place] = numbers[place] * 0.5 + 0.125


def test_code_runs_without_what_compiled_it() -> None:
    kernel = native(machine_code(halve, types.void(ADDRESS, types.int64)))
    numbers = np.arange(100.0)
    kernel(numbers.ctypes.data, 50)
    kernel.at_length(numbers.ctypes.data, 50)

    assert np.array_equal(numbers[:50], np.arange(50.0) / 4 + 0.1875)
    assert np.array_equal(numbers[50:], np.arange(50.0, 100.0))


def test_a_kernel_that_needs_something_from_outside_is_refused() -> None:
    def impure(numbers, n):
        numbers[0] = np.sin(numbers[n])

    with pytest.raises(ValueError, match="refers to something outside"):
        machine_code(impure, types.void(ADDRESS, types.int64))


def test_there_is_nothing_where_nothing_was_compiled(tmp_path: Path) -> None:
    assert find_natives(tmp_path) is None


WHOLE = headed(bytes(100), 0, 1)
BROKEN = {
    "empty": b"",
    "half a head": MAGIC,
    "no head": bytes(100),
    "another magic": b"BOUGH 0\n" + WHOLE[8:],
    "cut off": WHOLE[:-1],
    "longer": WHOLE + b"\0",
    "changed": WHOLE[:-1] + b"\1",
}


@pytest.mark.parametrize("content", BROKEN.values(), ids=BROKEN)
def test_a_file_that_is_broken_is_not_run(tmp_path: Path, content: bytes) -> None:
    for file in files(tmp_path).values():
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    assert find_natives(tmp_path) is None
    with pytest.raises(ValueError, match="kernel"):
        checked(content)


def test_what_is_kept_says_where_it_begins_and_what_it_takes() -> None:
    for name, file in files(ROOT).items():
        n_arguments, start = checked(file.read_bytes())

        assert 0 <= start < file.stat().st_size - HEAD.size
        assert n_arguments == len(AHEAD[name][1].args)


def test_there_is_none_for_other_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.tree.native.IS_KNOWN", False)

    assert find_natives(ROOT) is None


def test_what_is_kept_is_not_compiled_again_but_what_is_broken_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.jobs.ahead.root", lambda: ROOT)
    assert ahead.start() is None
    monkeypatch.setattr("service.jobs.ahead.root", lambda: tmp_path)
    monkeypatch.setattr("service.jobs.ahead.COMMAND", ("-c", "raise SystemExit(7)"))
    process = ahead.start()

    assert process is not None
    assert 7 == process.wait()
