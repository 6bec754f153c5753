"""More models than the cache holds: whether a worker grows over very many requests."""

import random
import statistics
from pathlib import Path

from bench.serving.bodies import JSON
from bench.serving.load import Shot, fire
from bench.serving.ours import Wishes, serving
from bench.serving.stores import store_of, write_questions
from bench.serving.verdicts import Verdict, at_most

WHERE = "many"
CACHE_BYTES = 64 * 1024 * 1024
TURN = 2  # seconds between two looks at the memory
N_DRAWN = 5_000  # requests, then the same again
GROWTH = 1.05  # of the memory; what is freed is not given back to the byte
N_CONNECTIONS = 8


def measure(wishes: Wishes, n_models: int, n_requests: int, directory: Path) -> list[Verdict]:
    """Whether the largest worker is at the end as large as when its cache was full."""
    data = store_of(n_models)
    files = write_questions(directory, range(n_models), n_rows=1)
    shot = Shot("/predict", JSON, tuple(drawn(files)), N_CONNECTIONS)
    variables = wishes.variables | {"BOUGH_CACHE_BYTES": str(CACHE_BYTES)}
    sizes, done, failed = [], 0, 0
    with serving(data, variables) as server:
        while done < n_requests:
            turn = fire(server.port, shot, TURN)
            done, failed = done + turn.requests, failed + turn.n_failed
            sizes.append(server.resident[0] / 1e6)
            print(f"{done:9,} requests {sizes[-1]:8.1f} MB {turn.rate:8.0f} a second", flush=True)
    return [
        at_most(WHERE, "MB at the end by MB after a third", growth(sizes), GROWTH),
        at_most(WHERE, f"requests of {done:,} that failed", failed, 0),
    ]


def drawn(files: list[Path]) -> list[Path]:
    """Requests by chance, a few models more often than most, as it is in earnest."""
    chance = random.Random(0)
    weights = [1 / (10 + place) for place in range(len(files))]
    return chance.choices(files, weights, k=N_DRAWN)


def growth(sizes: list[float]) -> float:
    """The last third by the middle one."""
    third = max(len(sizes) // 3, 1)
    middle = sizes[third : 2 * third] or sizes
    return statistics.median(sizes[-third:]) / statistics.median(middle)
