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
from service.tree.kernels.cache import place
from service.tree.kernels.link import machine_code
from service.tree.native import IS_KNOWN, Natives, file_of

COMMAND = ("-P", "-m", "service.jobs.ahead")
ANY_PROCESSOR = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}


def start() -> "subprocess.Popen[bytes] | None":
    """The process that compiles; None where there is nothing to do."""
    if not IS_KNOWN or all(file.exists() for file in files().values()):
        return None
    return subprocess.Popen([sys.executable, *COMMAND], env=os.environ | ANY_PROCESSOR)


def files() -> dict[str, Path]:
    """Where each kernel is kept."""
    root = place().parents[1]
    return {name: file_of(name, root) for name in Natives._fields}


def main() -> None:
    """Write the code of all kernels."""
    for name, file in files().items():
        function, signature = AHEAD[name]
        _write(file, machine_code(function, signature))


def _write(file: Path, code: bytes) -> None:
    """Writes a file that is there whole or not at all."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as part:
        part.write(code)
    Path(part.name).chmod(0o644)
    Path(part.name).replace(file)


if __name__ == "__main__":
    main()
