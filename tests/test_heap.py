"""The heap: large blocks that are given back come again without new pages."""

import resource
import subprocess
import sys
from pathlib import Path

import service

ROOT = Path(service.__file__).parent.parent
ASKED = """
import resource
import numpy as np
from service.heap import keep_memory
{first}

def some():
    blocks = [np.ones(250_000) for _ in range(8)]

some()
some()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(20):
    some()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def n_faults(first: str) -> int:
    """How many new pages a process needs for what it has had before."""
    asked = [sys.executable, "-c", ASKED.format(first=first)]
    return int(subprocess.run(asked, check=True, capture_output=True, text=True, cwd=ROOT).stdout)


def test_memory_that_was_given_back_is_kept() -> None:
    n_pages = 20 * 8 * 250_000 * 8 // resource.getpagesize()

    assert n_faults("keep_memory()") < n_pages / 20 < n_faults("")
