"""Our learner beside its peers: seconds, ratios, memory, nodes, accuracy, and what must hold.

    .venv/bin/python -m bench.learn                          all of it, which takes long
    .venv/bin/python -m bench.learn exact-10k-2 mixed-10k-10
    .venv/bin/python -m bench.learn --list
    .venv/bin/python -m bench.learn --rows 1000              a trial with small data

Every contender has a process of its own that gets the data once; they fit in turn, round by round,
and the medians count. Python's peers are installed into .bench/; R's rpart and Weka's J48 are used
where they are there. Ends with 1 if a limit is not kept.
"""

import argparse
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from bench.contest import Contender, Result, hold
from bench.data import HELD, TRAINING, Recipe, Rows, Schema, make, save, save_texts
from bench.peers.places import COMMANDS, J48, PLACE, SCIKIT_LEARN, TEXT_READERS, YDF
from bench.workloads import BYTES_A_CELL, WORKLOADS, Target, Workload
from tests.oracles.sets import CLASSIFICATION, oracle_set

REFERENCES = (SCIKIT_LEARN, YDF, J48)
CAP = 900.0
HEADER = (
    f"{'workload':22}{'contender':26}{'seconds':>10}{'runs':>5}"
    + "".join(f"{'/ ' + reference:>15}" for reference in REFERENCES)
    + f"{'MB':>8}{'nodes':>9}{'accuracy':>10}"
)


def main() -> None:
    """Prints one table, and whether each limit is kept."""
    options = _options()
    if options.list:
        print(*WORKLOADS, sep="\n")
        return
    PLACE.mkdir(exist_ok=True)
    print(HEADER, flush=True)
    verdicts = []
    for name in options.workloads or WORKLOADS:
        workload = narrowed(WORKLOADS[name], options)
        with tempfile.TemporaryDirectory(dir=PLACE) as place:
            n_cells = lay_out(workload, Path(place))
            results = hold(workload.contenders, Path(place), workload.n_rounds, options.cap)
        print_results(workload, results)
        verdicts += [(name, target, *judged(target, results, n_cells))
                     for target in workload.targets]  # fmt: skip
    print_verdicts(verdicts)
    sys.exit(1 if any(verdict == "no" for *_, verdict in verdicts) else 0)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.learn")
    parser.add_argument("workloads", nargs="*", metavar="workload")
    parser.add_argument("--list", action="store_true", help="the names of the workloads")
    parser.add_argument("--rows", type=int, help="no more than so many, for a trial")
    parser.add_argument("--rounds", type=int, help="instead of the workload's own number")
    parser.add_argument("--cap", type=float, default=CAP, help="seconds that a fit may take")
    parser.add_argument("--peers", nargs="+", choices=COMMANDS, help="only these")
    options = parser.parse_args()
    for name in options.workloads:
        if name not in WORKLOADS:
            parser.error(f"there is no workload {name!r}; --list tells the names")
    return options


def narrowed(workload: Workload, options: argparse.Namespace) -> Workload:
    """The workload as the options want it."""
    recipe = workload.recipe
    if isinstance(recipe, Recipe) and options.rows:
        recipe = replace(recipe, n_rows=min(recipe.n_rows, options.rows))
    contenders = tuple(each for each in workload.contenders
                       if not options.peers or each.peer in options.peers)  # fmt: skip
    n_rounds = options.rounds or workload.n_rounds
    return replace(workload, recipe=recipe, contenders=contenders, n_rounds=n_rounds)


def lay_out(workload: Workload, directory: Path) -> int:
    """Writes the data where the contenders find it; the number of cells to train on."""
    recipe = workload.recipe
    training, held = make(recipe) if isinstance(recipe, Recipe) else largest_stored()
    for name, rows in ((TRAINING, training), (HELD, held)):
        save(directory, name, rows)
        if any(contender.peer in TEXT_READERS for contender in workload.contenders):
            save_texts(directory, name, rows)
    return int(training.values.size)


def largest_stored() -> tuple[Rows, Rows]:
    """The largest set of tests/data, its last fold also as the rows to predict."""
    found = max(map(oracle_set, CLASSIFICATION), key=lambda each: each.data.values.size)
    kinds = [len(attribute.values) for attribute in found.data.attributes]
    rows = Rows(Schema(kinds, len(found.data.classes)), found.data.values, found.data.target)
    last = found.folds == found.folds.max()
    return rows, Rows(rows.schema, rows.values[last], rows.target[last])


def print_results(workload: Workload, results: list[Result]) -> None:
    """A line for each contender."""
    for result in results:
        line = f"{workload.name:22}{result.contender.name:26}"
        if result.seconds is None:
            print(f"{line}{result.trouble:>10}", flush=True)
            continue
        ratios = "".join(f"{_ratio(result, results, name):>15}" for name in REFERENCES)
        print(
            f"{line}{result.seconds:10.4f}{result.n_runs:5}{ratios}"
            f"{(result.memory or 0) / 1e6:8.1f}{result.nodes:9.0f}{result.accuracy:10.4f}",
            flush=True,
        )


def _ratio(result: Result, results: list[Result], peer: str) -> str:
    """The seconds by those of the peer, of the same criterion if it has that."""
    those = [other for other in results if other.contender.peer == peer]
    same = [other for other in those if _alike(other.contender, result.contender)]
    for other in same or those:
        if other.seconds is not None and result.seconds is not None:
            return f"{result.seconds / other.seconds:.3f}"
        if other.cap is not None and result.seconds is not None:
            return f"< {result.seconds / other.cap:.3f}"
    return "-"


def _alike(one: Contender, other: Contender) -> bool:
    return one.criterion == other.criterion


def judged(target: Target, results: list[Result], n_cells: int) -> tuple[str, str]:
    """What was measured, and whether the limit is kept; a cap says only how much it is at most."""
    known = {result.contender.name: result for result in results}
    own = known.get(target.contender)
    if own is None or own.seconds is None:
        return (own.trouble, "no") if own else ("not asked", "-")
    if target.measure == BYTES_A_CELL:
        return _verdict((own.memory or 0.0) / n_cells, target.limit)
    if not target.peers:
        return _verdict(own.seconds, target.limit)
    peers = [known[name] for name in target.peers if name in known]
    times = [peer.seconds for peer in peers if peer.seconds is not None]
    caps = [peer.cap for peer in peers if peer.cap is not None]
    if times:
        return _verdict(own.seconds / min(times), target.limit)
    if caps and own.seconds / min(caps) <= target.limit:
        return f"< {own.seconds / min(caps):.3f}", "yes"
    return "not measured", "-"


def _verdict(measured: float, limit: float) -> tuple[str, str]:
    return f"{measured:.3f}", "yes" if measured <= limit else "no"


def print_verdicts(verdicts: list[tuple[str, Target, str, str]]) -> None:
    """A line for each limit."""
    print(f"\n{'workload':22}{'what is limited':60}{'measured':>14}{'limit':>8}{'holds':>7}")
    for name, target, measured, verdict in verdicts:
        what = f"{target.contender}, {target.measure}"
        if target.peers:
            what = f"{target.contender} / {_fastest(target.peers)}"
        print(f"{name:22}{what:60}{measured:>14}{target.limit:8.2f}{verdict:>7}")


def _fastest(peers: tuple[str, ...]) -> str:
    if len(peers) == 1:
        return peers[0]
    return "the fastest of " + ", ".join(dict.fromkeys(peer.split()[0] for peer in peers))


if __name__ == "__main__":
    main()
