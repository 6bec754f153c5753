"""Where the servers' programs are; what can be installed is, each peer into a place of its own.

In bench/serving/requirements a .txt is what is installed, and made from the .in beside it by
`uv pip compile --python-version 3.11 --generate-hashes --no-header --no-annotate -o x.txt x.in`.
"""

import os
import subprocess
import sys
import venv
from functools import cache
from pathlib import Path
from shutil import which

from bench.peers.places import PLACE

REQUIREMENTS = Path(__file__).parent / "requirements"
ENVIRONMENTS = PLACE / "serving"


@cache
def python_of(peer: str) -> Path | None:
    """The Python that has a peer in the versions required; None if they cannot be had."""
    required = (REQUIREMENTS / f"{peer}.txt").read_text()
    place = ENVIRONMENTS / peer
    python, stamp = place / "bin" / "python", place / "requirements.txt"
    if stamp.exists() and stamp.read_text() == required:
        return python
    print(f"installing {peer} into {place}", file=sys.stderr, flush=True)
    venv.create(place, clear=True, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps"]
    install += ["-r", str(REQUIREMENTS / f"{peer}.txt")]
    ended = subprocess.run(install, check=False, capture_output=True, text=True)
    if ended.returncode != 0:
        print(ended.stderr, file=sys.stderr)
        return None
    stamp.write_text(required)
    return python


def program(python: Path, name: str) -> str:
    """A program of the environment that a Python belongs to."""
    return str(python.parent / name)


@cache
def wrk() -> str:
    """The program that sends the requests; Debian has it, and root can have it brought."""
    found = which("wrk")
    if found is None and os.geteuid() == 0 and which("apt-get"):
        print("installing wrk", file=sys.stderr, flush=True)
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for words in (["update"], ["install", "--yes", "--no-install-recommends", "wrk"]):
            subprocess.run(["apt-get", "-qq", *words], env=quiet, check=False)
        found = which("wrk")
    if found is None:
        sys.exit("There is no wrk, which sends the requests. Install it and try again.")
    return found
