"""The same rows to ours in each form: as rows, as columns, as Arrow."""

from pathlib import Path

from bench.serving.cells import Cell
from bench.serving.contenders import ARROW, COLUMNS, OURS
from bench.serving.ours import Wishes, serving
from bench.serving.scenes import lay_out
from bench.serving.table import Entrant, Pace, hold, print_entrants, print_header, ratio
from bench.serving.verdicts import Verdict, at_least, failed, left_open

LIMITS = {COLUMNS.name: 1.25, ARROW.name: 4.0}
N_ROWS = 10_000


def measure(cells: list[Cell], wishes: Wishes, pace: Pace, directory: Path) -> list[Verdict]:
    """Prints how fast each form is; what of the limits holds."""
    cells = [cell for cell in cells if cell.n_rows == N_ROWS]
    contenders = [OURS, COLUMNS, ARROW]
    verdicts: list[Verdict] = []
    print_header(OURS)
    for stage in lay_out(cells, [contender.form for contender in contenders], directory):
        with serving(stage.data, wishes.variables) as server:
            servers = {contender.name: server for contender in contenders}
            for cell in cells:
                if cell.scene == stage.scene:
                    entrants = hold(stage, cell, contenders, servers, pace)
                    print_entrants(cell, entrants, OURS)
                    verdicts += judged(cell, entrants)
    return verdicts


def judged(cell: Cell, entrants: list[Entrant]) -> list[Verdict]:
    """Each other form by rows."""
    rows, *others = entrants
    verdicts = []
    for other in others:
        limit, what = LIMITS[other.contender.name], f"{other.contender.name} / ours"
        by_rows = ratio(other, rows)
        if by_rows is not None:
            verdicts.append(at_least(cell.name, what, by_rows, limit))
        elif "answers 415" in other.troubles:
            verdicts.append(left_open(cell.name, what, "not there", f">= {limit:g}"))
        else:
            why = (other.troubles + rows.troubles)[0]
            verdicts.append(failed(cell.name, what, why, f">= {limit:g}"))
    return verdicts
