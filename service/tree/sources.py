"""What kernels are made of, and so where they are kept; whoever has no numba may import this."""

import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

ROOT = Path(sys.prefix, "var", "cache", "bough")  # where kernels are kept unless told otherwise
KERNELS = Path(__file__).parent / "kernels"
SERVICE = KERNELS.parents[1]
COMPILERS = ("numba", "llvmlite", "numpy")
PREFIX = "kernels-"  # of the directories that are ours
IMPORT = re.compile(r"^from (service[\w.]*) import", re.MULTILINE)  # they all look like this


def directory(root: Path) -> Path:
    """The directory in there of what these sources become by these compilers."""
    versions = [version(each) for each in COMPILERS]
    tag = sys.implementation.cache_tag or ""
    return root.absolute() / f"{PREFIX}{short(*versions, tag, *_texts())}"


def _texts() -> Iterator[str]:
    """All that kernels are made of: each file with its name, also those with their constants."""
    waiting = sorted(KERNELS.glob("*.py"))
    known = set(waiting)
    while waiting:
        path = waiting.pop(0)
        text = path.read_text(encoding="utf-8")
        yield from (str(path.relative_to(SERVICE)), text)
        imported = [SERVICE.parent.joinpath(*name.split(".")) for name in IMPORT.findall(text)]
        found = {each.with_suffix(".py") for each in imported} - known
        waiting += sorted(each for each in found if each.exists())
        known |= found


def short(*texts: str) -> str:
    """A name that no other texts have."""
    digest = sha256()
    for text in texts:
        digest.update(sha256(text.encode()).digest())
    return digest.hexdigest()[:16]
