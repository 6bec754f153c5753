"""Ends: what is told of rows, or of parts of them, that have come to a node and go no further."""

from typing import Any

from service.tree.criterion import TIE
from service.tree.kernels.compile import merged
from service.tree.kernels.entries import U
from service.tree.kernels.shapes import END, MET, N_LEAVES, N_TOTALS
from service.tree.kernels.tell_grove import Grove, Shape, Slate, Space, width_of

AN_END = 1 << 32  # in the number of leaves, while ends are counted there too


@merged
def end(
    grove: Grove, shape: Shape, node: int, row: int, weight: float, space: Space, slate: Slate
) -> None:
    """So much of a row of the block ends at a node."""
    own, size = node * shape.n_answers, shape.n_answers + shape.is_regression
    at, total = (slate.first_row + row) * width_of(shape), row * N_TOTALS
    mark = (slate.first_row + row) * (MET + shape.n_met)
    space.totals[U(total)] += weight
    slate.marks[U(mark + END)] = node
    slate.marks[U(mark + N_LEAVES)] += grove.n_leaves[U(node)] + AN_END
    for word in range(shape.n_met):
        slate.marks[U(mark + MET + word)] |= grove.touched[U(node * shape.n_met + word)]
    for answer in range(shape.n_answers):
        slate.told[U(at + answer)] += weight * grove.answers[U(own + answer)]
        low, high = U(at + size + 2 * answer), U(at + size + 2 * answer + 1)
        slate.told[low] = max(slate.told[low], -grove.lowest[U(own + answer)])
        slate.told[high] = max(slate.told[high], grove.highest[U(own + answer)])
    if shape.is_regression and weight > 0.0:
        # about the mean so far: squares of large numbers would not be exact
        apart = grove.answers[U(own)] - space.totals[U(total + 1)]
        part = weight / space.totals[U(total)]  # exactly 1 at the first end
        space.totals[U(total + 1)] += apart * part
        spread = apart * apart * (1.0 - part)
        slate.told[U(at + 1)] += weight * (grove.variance[U(node)] + spread)


@merged
def likeliest(told: Any, at: int, n_answers: int) -> int:
    """The number of the largest answer, the first of equals."""
    best = told[U(at)]
    for answer in range(1, n_answers):
        best = max(best, told[U(at + answer)])
    for answer in range(n_answers):
        if told[U(at + answer)] >= best - TIE:
            return answer
    return 0


@merged
def _end_two(grove: Grove, node: int, start: int, stop: int, space: Space, slate: Slate) -> None:
    """The same of all in a list, where there are two classes, and one word of what was met.

    What the node tells is looked up once, and numbers side by side are told at once.
    """
    own = 2 * node
    answer, answer_too = grove.answers[U(own)], grove.answers[U(own + 1)]
    low, high = -grove.lowest[U(own)], grove.highest[U(own)]
    low_too, high_too = -grove.lowest[U(own + 1)], grove.highest[U(own + 1)]
    n_leaves, touched = grove.n_leaves[U(node)] + AN_END, grove.touched[U(node)]
    for place in range(start, stop):
        row, weight = space.rows[U(place)], space.weights[U(place)]
        at, mark = (slate.first_row + row) * 6, (slate.first_row + row) * (MET + 1)
        space.totals[U(row * N_TOTALS)] += weight
        slate.marks[U(mark + END)] = node
        slate.marks[U(mark + N_LEAVES)] += n_leaves
        slate.marks[U(mark + MET)] |= touched
        slate.told[U(at)] += weight * answer
        slate.told[U(at + 1)] += weight * answer_too
        slate.told[U(at + 2)] = max(slate.told[U(at + 2)], low)
        slate.told[U(at + 3)] = max(slate.told[U(at + 3)], high)
        slate.told[U(at + 4)] = max(slate.told[U(at + 4)], low_too)
        slate.told[U(at + 5)] = max(slate.told[U(at + 5)], high_too)


@merged
def end_list(
    grove: Grove, shape: Shape, node: int, start: int, stop: int, space: Space, slate: Slate
) -> None:
    """All in a list end at a node."""
    if shape.n_answers == 2 and shape.n_met == 1 and shape.is_regression == 0:
        _end_two(grove, node, start, stop, space, slate)
        return
    for place in range(start, stop):
        row, weight = space.rows[U(place)], space.weights[U(place)]
        end(grove, shape, node, row, weight, space, slate)
