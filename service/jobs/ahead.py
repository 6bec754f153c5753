"""Compiling for processes without numba, in a process of its own: `python -m service.jobs.ahead`.

A process compiles for one kind of processor. This one does so for all that there are, because who
maps the code does not ask, and what it gains by knowing is little.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from service.tree.kernels.ahead import AHEAD
from service.tree.kernels.cache import root
from service.tree.kernels.link import COMPILED_SO, machine_code
from service.tree.native import IS_KNOWN, checked, files

COMMAND = ("-P", "-m", "service.jobs.ahead")


def start() -> "subprocess.Popen[bytes] | None":
    """The process that compiles; None where there is nothing to do."""
    if not IS_KNOWN or all(map(_is_whole, files(root()).values())):
        return None
    return subprocess.Popen([sys.executable, *COMMAND], env=os.environ | COMPILED_SO)


def _is_whole(file: Path) -> bool:
    try:
        checked(file.read_bytes())
    except (OSError, ValueError):
        return False
    return True


def main() -> None:
    """Write the code of all kernels."""
    try:
        for name, file in files(root()).items():
            _write(file, machine_code(*AHEAD[name]))
    except OSError as error:
        sys.exit(f"The kernels for web processes cannot be kept: {error.strerror}.")


def _write(file: Path, code: bytes) -> None:
    """Writes a file that is there whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as part:
        part.write(code)
        part.flush()
        os.fsync(part.fileno())
    Path(part.name).chmod(0o644)
    Path(part.name).replace(file)


if __name__ == "__main__":
    main()
