"""Compiling ahead in a process of its own: `python -m service.jobs.warm` is `bough warm`.

A second process begins with something else, so that two processors have something to do; what one
has kept the other need not compile.
"""

import shutil
import subprocess
import sys
import time

from service.actions.warm import warm, warm_beside
from service.jobs import ahead
from service.tree.kernels import grow
from service.tree.kernels.cache import UNKEPT, former, place
from service.tree.kernels.compile import n_compiled

BESIDE = "beside"
SECOND = ("-P", "-m", "service.jobs.warm", BESIDE)


def main() -> None:
    """Compile what is not kept yet, and remove what nobody needs any more."""
    began = time.monotonic()
    native = ahead.start()
    has_longest = (place() / grow.__name__).exists()
    second = None if has_longest else subprocess.Popen([sys.executable, *SECOND])
    warm()
    if second is not None:
        second.wait()  # should it fail, the first has compiled all of it
    is_native = native is None or native.wait() == 0
    seconds = time.monotonic() - began
    for each in former():
        shutil.rmtree(each, ignore_errors=True)  # somebody else may be about to do so
    if UNKEPT:
        sys.exit(f"The kernels cannot be kept in {place()}: {UNKEPT[0].strerror}.")
    if not is_native:
        sys.exit("The kernels for web processes could not be compiled.")
    is_new = native is not None or n_compiled() > 0
    told = f"compiled in {seconds:.0f} s" if is_new else "compiled already"
    sys.stdout.write(f"The kernels are {told}; they are kept in {place()}\n")


if __name__ == "__main__":
    if sys.argv[1:] == [BESIDE]:
        warm_beside()
    else:
        main()
