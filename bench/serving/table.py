"""The table: every server in every cell, in turn, round by round; ratios to the floor."""

import statistics
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import CalledProcessError

from bench.serving.cells import Cell
from bench.serving.contenders import ARROW, COLUMNS, FLOOR, OURS, WIRE, Contender, Site
from bench.serving.load import Turn, fire
from bench.serving.ours import Wishes
from bench.serving.processes import Server, Unanswered, ask, running
from bench.serving.scenes import Stage, lay_out
from bench.serving.verdicts import Verdict, ahead, at_least, failed, left_open
from tests.server import free_port

TO_FLOOR = {1: {0: 0.9, 10: 0.9, 50: 0.85}, 100: dict.fromkeys((0, 10, 50), 0.88)}
TO_FLOOR[10_000] = dict.fromkeys((0, 10, 50), 1.0)
NOT_THERE = "not there"
OWN = (OURS, COLUMNS, ARROW)
NO_PEERS = (FLOOR, WIRE, *OWN)


@dataclass(frozen=True)
class Entrant:
    """A contender in a cell: its turns, or why there are none."""

    contender: Contender
    server: Server | None
    turns: list[Turn] = field(default_factory=list)
    troubles: list[str] = field(default_factory=list)

    @property
    def rates(self) -> list[float]:
        """Requests a second, round by round."""
        return [turn.rate for turn in self.turns]


@dataclass(frozen=True)
class Pace:
    """How long it is measured."""

    seconds: int
    n_rounds: int


def measure(
    cells: list[Cell], contenders: list[Contender], wishes: Wishes, pace: Pace, directory: Path
) -> list[Verdict]:
    """Prints the table; what of its limits holds."""
    stages = lay_out(cells, [contender.form for contender in contenders], directory)
    print_header(FLOOR)
    verdicts: list[Verdict] = []
    for stage in stages:
        with ExitStack() as stack:
            servers = {
                contender.name: _started(stack, stage, contender, wishes, cells)
                for contender in contenders
            }
            for cell in cells:
                if cell.scene == stage.scene:
                    entrants = hold(stage, cell, contenders, servers, pace)
                    print_entrants(cell, entrants, FLOOR)
                    verdicts += judged(cell, entrants)
    return verdicts


def _started(
    stack: ExitStack, stage: Stage, contender: Contender, wishes: Wishes, cells: list[Cell]
) -> Server | str:
    """The contender's server, or why there is none."""
    site = Site(stage, free_port(), wishes)
    cell = next(cell for cell in cells if cell.scene == stage.scene)
    log = stage.directory / f"{contender.name}.log"
    try:
        launch = contender.launch(site)
        if launch is None:
            return NOT_THERE
        shot = stage.shot(cell, contender.form)
        return stack.enter_context(running(launch, site.port, shot, log))
    except (Unanswered, CalledProcessError) as error:
        print(f"{contender.name}: {error}", file=sys.stderr, flush=True)
        return "did not start"


def hold(
    stage: Stage,
    cell: Cell,
    contenders: list[Contender],
    servers: Mapping[str, Server | str],
    pace: Pace,
) -> list[Entrant]:
    """What came of each contender in a cell."""
    entrants = [_entered(stage, cell, each, servers[each.name]) for each in contenders]
    for _ in range(pace.n_rounds):
        for entrant in entrants:
            if entrant.server is None or entrant.troubles:
                continue
            shot = stage.shot(cell, entrant.contender.form)
            turn = fire(entrant.server.port, shot, pace.seconds)
            entrant.server.settle()
            entrant.turns.append(turn)
            entrant.troubles.extend([turn.trouble] if turn.trouble else [])
    return entrants


def _entered(stage: Stage, cell: Cell, contender: Contender, server: Server | str) -> Entrant:
    """The contender, if it can answer what is asked in the cell."""
    if isinstance(server, str):
        return Entrant(contender, None, troubles=[server])
    status, answer = ask(server.port, stage.shot(cell, contender.form))
    if status == 200:
        return Entrant(contender, server)
    print(f"{contender.name}, {cell.name}: {answer[:300]!r}", file=sys.stderr, flush=True)
    return Entrant(contender, server, troubles=[f"answers {status}"])


def ratio(entrant: Entrant, other: Entrant | None) -> float | None:
    """The requests a second by those of another in the same round; the median of all rounds."""
    if other is None or entrant.troubles or other.troubles:
        return None
    pairs = zip(entrant.rates, other.rates, strict=True)
    return statistics.median(own / theirs for own, theirs in pairs)


def print_header(base: Contender) -> None:
    """What the columns are."""
    print(
        f"{'workload':22}{'contender':22}{'requests/s':>12}{'/ ' + base.name:>14}{'p50 ms':>10}"
        f"{'p99 ms':>10}{'MB a worker':>13}{'cold start s':>14}",
        flush=True,
    )


def print_entrants(cell: Cell, entrants: list[Entrant], base: Contender) -> None:
    """A line for each contender, its ratio to one of them."""
    reference = _named(entrants, base)
    for entrant in entrants:
        line = f"{cell.name:22}{entrant.contender.name:22}"
        if entrant.troubles or entrant.server is None:
            print(f"{line}{entrant.troubles[0]:>12}", flush=True)
            continue
        p50, p99 = (1000 * statistics.median(times) for times in _latencies(entrant))
        found = ratio(entrant, reference)
        told = "-" if found is None else f"{found:.3f}"
        memory = entrant.server.resident[0] / 1e6
        print(
            f"{line}{median_rate(entrant):12.1f}{told:>14}{p50:10.2f}{p99:10.2f}"
            f"{memory:13.1f}{entrant.server.cold_start:14.2f}",
            flush=True,
        )


def _latencies(entrant: Entrant) -> tuple[list[float], list[float]]:
    return [turn.p50 for turn in entrant.turns], [turn.p99 for turn in entrant.turns]


def _named(entrants: list[Entrant], contender: Contender) -> Entrant | None:
    return next((each for each in entrants if each.contender == contender), None)


def judged(cell: Cell, entrants: list[Entrant]) -> Iterator[Verdict]:
    """Ours by the floor, and by the fastest of the peers."""
    ours, floor = _named(entrants, OURS), _named(entrants, FLOOR)
    if ours is None:
        return
    limit = TO_FLOOR[cell.n_rows][cell.percent]
    to_floor = ratio(ours, floor)
    if to_floor is not None:
        yield at_least(cell.name, "ours / floor", to_floor, limit)
    elif ours.troubles:
        yield failed(cell.name, "ours / floor", ours.troubles[0], f">= {limit:g}")
    else:
        yield left_open(cell.name, "ours / floor", "no floor", f">= {limit:g}")
    yield from beside_peers(cell, entrants)


def beside_peers(cell: Cell, entrants: list[Entrant]) -> Iterator[Verdict]:
    """Ours by the fastest of the peers; they and we have the form that suits each best."""
    own = [each for each in entrants if each.contender in OWN and not each.troubles]
    peers = [each for each in entrants if each.contender not in NO_PEERS and not each.troubles]
    if own and peers:
        best, peer = max(own, key=median_rate), max(peers, key=median_rate)
        what = f"{best.contender.name} / the fastest peer, {peer.contender.name}"
        yield ahead(cell.name, what, ratio(best, peer) or 0.0)


def median_rate(entrant: Entrant) -> float:
    """Requests a second."""
    return statistics.median(entrant.rates)
