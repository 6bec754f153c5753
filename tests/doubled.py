"""A process with a kernel of its own, quick to compile, which tells how it came by it."""

import json
import sys
from typing import Any

from service.tree.kernels.compile import kernel, n_compiled, n_loaded


@kernel
def doubled(number: Any) -> Any:
    return 2 * number


if __name__ == "__main__":
    answers = [doubled(json.loads(each)) for each in sys.argv[1:]]
    json.dump([answers, n_compiled(), n_loaded()], sys.stdout)
