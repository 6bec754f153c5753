"""Many clients at once, each of which orders, looks after its job, predicts, and orders again."""

import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

import httpx

from tests.faults.system import UNDER_WAY, an_order

LOOKS = 10  # at a job before the next one is ordered
PAUSE = 0.05
A_ROW = [{"触感": "硬滑"}]


@dataclass(frozen=True)
class Tally:
    """What the clients were answered: how often which status, and how long each answer took."""

    statuses: Counter[int] = field(default_factory=Counter)
    seconds: list[float] = field(default_factory=list)

    def ask(self, call: Callable[[], httpx.Response]) -> httpx.Response:
        """The answer, which is noted."""
        began = time.monotonic()
        answer = call()
        self.seconds.append(time.monotonic() - began)
        self.statuses[answer.status_code] += 1
        return answer

    def percentile(self, percent: float) -> float:
        """How long the answer took than which so many percent were faster, in seconds."""
        ordered = sorted(self.seconds)
        return ordered[min(int(len(ordered) * percent / 100), len(ordered) - 1)]


def crowd(address: str, n_clients: int, seconds: float) -> Tally:
    """What so many clients were answered in that time."""
    tally, end = Tally(), time.monotonic() + seconds
    with ThreadPoolExecutor(n_clients) as clients:
        going = [
            clients.submit(_visit, address, f"client-{number}", tally, end)
            for number in range(n_clients)
        ]
    for each in going:
        each.result()
    return tally


def _visit(address: str, model: str, tally: Tally, end: float) -> None:
    limits = httpx.Limits(max_connections=1)
    with httpx.Client(base_url=address, timeout=60, limits=limits) as client:
        while time.monotonic() < end:
            _order_and_look(client, model, tally)


def _order_and_look(client: httpx.Client, model: str, tally: Tally) -> None:
    ordered = tally.ask(lambda: client.post("/train", json=an_order(model)))
    if ordered.status_code != 202:
        return
    for _ in range(LOOKS):
        seen = tally.ask(lambda: client.get(ordered.headers["Location"]))
        if seen.status_code == 200 and seen.json()["state"] not in UNDER_WAY:
            tally.ask(partial(client.post, "/predict", json={"model": model, "rows": A_ROW}))
            return
        time.sleep(PAUSE)
