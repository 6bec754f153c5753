"""Our service beside a floor and beside its peers: requests a second, latency, memory, start.

    .venv/bin/python -m bench.serve                              all of it, which takes long
    .venv/bin/python -m bench.serve table 'd15-*-1-*' --seconds 1 --rounds 1
    .venv/bin/python -m bench.serve table --contenders floor ours --class sync
    .venv/bin/python -m bench.serve start many aliases crowded forms
    .venv/bin/python -m bench.serve --list

`table` is every server in every workload, in turn under wrk, round by round; a workload is called
depth-attributes-rows-nulls. The floor is Flask with orjson, under the gunicorn settings of ours,
which reads the body and writes an answer of the same size. Each peer is installed into a place of
its own in .bench/; one that cannot be had is told as not there. The tensor servers (MLServer,
MLflow, BentoML) get categories that whoever asks has numbered, and answer probabilities only.

`forms` sends ours rows, columns and Arrow; `start` is the way to the first answer and the memory;
`many` asks more models than the cache holds, which are trained once and kept in .bench/; `aliases`
moves an alias under two servers on one PostgreSQL; `crowded` posts large bodies beside small ones.
Ends with 1 if a limit is not kept.
"""

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from bench.peers.places import PLACE
from bench.serving import aliases, crowded, forms, many, start, table
from bench.serving.cells import CELLS, Cell, chosen
from bench.serving.contenders import CONTENDERS, gunicorn_settings
from bench.serving.ours import Wishes
from bench.serving.verdicts import FAILS, Verdict, print_verdicts

Options = argparse.Namespace


def _table(options: Options, place: Path) -> list[Verdict]:
    contenders = [CONTENDERS[name] for name in options.contenders]
    return table.measure(_cells(options), contenders, _wishes(options), _pace(options), place)


def _forms(options: Options, place: Path) -> list[Verdict]:
    return forms.measure(_cells(options), _wishes(options), _pace(options), place)


def _start(options: Options, place: Path) -> list[Verdict]:
    return start.measure(_wishes(options), place)


def _many(options: Options, place: Path) -> list[Verdict]:
    return many.measure(_wishes(options), options.models, options.requests, place)


def _aliases(options: Options, place: Path) -> list[Verdict]:
    return aliases.measure(_wishes(options), options.long, place)


def _crowded(options: Options, place: Path) -> list[Verdict]:
    pace = table.Pace(options.long, options.rounds)
    return crowded.measure(_wishes(options), pace, place)


MEASURES: dict[str, Callable[[Options, Path], list[Verdict]]] = {
    "table": _table,
    "forms": _forms,
    "start": _start,
    "many": _many,
    "aliases": _aliases,
    "crowded": _crowded,
}


def main() -> None:
    """Prints what was measured, and whether each limit is kept."""
    options = _options()
    if options.list:
        print(*CELLS, sep="\n")
        return
    PLACE.mkdir(exist_ok=True)
    verdicts: list[Verdict] = []
    for name in _measures(options):
        print(f"\n{_head(name, options)}", flush=True)
        with tempfile.TemporaryDirectory(dir=PLACE) as place:
            verdicts += MEASURES[name](options, Path(place))
    print_verdicts(verdicts)
    sys.exit(1 if any(each.holds == FAILS for each in verdicts) else 0)


def _options() -> Options:
    parser = argparse.ArgumentParser(prog="python -m bench.serve")
    words = f"any of {', '.join(MEASURES)}, and workloads such as d15-mixed-1-50 or 'd5-*'"
    parser.add_argument("words", nargs="*", metavar="what", help=words)
    parser.add_argument("--list", action="store_true", help="the names of the workloads")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--seconds", type=int, default=2, help="of a turn")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--long", type=int, default=30, help="seconds of aliases, crowded")
    parser.add_argument("--workers", type=int, default=2, help="processes of each server")
    parser.add_argument("--threads", type=int, default=4, help="of a gthread worker")
    parser.add_argument("--class", dest="worker_class", choices=["sync", "gthread"], default="")
    parser.add_argument("--models", type=int, default=1_000, help="of many")
    parser.add_argument("--requests", type=int, default=100_000, help="of many")
    options = parser.parse_intermixed_args()
    for pattern in _patterns(options):
        if not chosen([pattern]):
            parser.error(f"{pattern!r} is nothing to measure; --list tells the workloads")
    return options


def _measures(options: Options) -> list[str]:
    """What is to be measured; who names only workloads means the table."""
    if not options.words:
        return list(MEASURES)
    return [name for name in MEASURES if name in options.words] or ["table"]


def _patterns(options: Options) -> list[str]:
    return [word for word in options.words if word not in MEASURES]


def _cells(options: Options) -> list[Cell]:
    return chosen(_patterns(options))


def _wishes(options: Options) -> Wishes:
    return Wishes(options.workers, options.worker_class, options.threads)


def _pace(options: Options) -> table.Pace:
    return table.Pace(options.seconds, options.rounds)


def _head(name: str, options: Options) -> str:
    """How it is measured."""
    kind = options.worker_class or gunicorn_settings(_wishes(options))["worker_class"]
    hows = {
        "aliases": f"{aliases.N_CLIENTS} clients of our own, {options.long} s",
        "crowded": f"{options.rounds} rounds of {options.long} s",
    }
    how = hows.get(name, f"wrk, {options.rounds} rounds of {options.seconds} s")
    return f"{name}: {options.workers} workers, {kind}; {how}"


if __name__ == "__main__":
    main()
