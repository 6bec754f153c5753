"""The alphas at which nodes become leaves: by the weakest link, or as rpart has it."""

from typing import NamedTuple

import numpy as np

from service.tree.arrays import Bools, Floats, Ints
from service.tree.kernels.compile import kernel
from service.tree.kernels.sums import summed


class Links(NamedTuple):
    """The inner nodes that are still there, in a heap: the weakest link, then the first node."""

    parent: Ints
    first_child: Ints
    n_branches: Ints
    risk: Floats
    below: Floats  # per node the risk of the leaves below it
    leaves: Ints  # how many these are
    link: Floats  # what each leaf less costs if it becomes a leaf; infinite where it is one
    heap: Ints
    place: Ints  # per node where it stands in the heap
    stack: Ints  # room for the nodes on the way down
    alpha_cut: Floats


@kernel
def leaves_below(parent: Ints, below: Floats, leaves: Ints) -> None:
    """Adds to every node what its children have, the last child first."""
    for node in range(len(parent) - 1, 0, -1):
        below[parent[node]] += below[node]
        leaves[parent[node]] += leaves[node]


@kernel
def cut_weakest(links: Links, same: float) -> None:
    """Fills in `alpha_cut`: always the weakest link is cut next, with all that are as weak."""
    alpha = 0.0
    while links.link[0] < np.inf:
        limit = alpha + same
        while links.link[0] < np.inf and links.link[links.heap[0]] <= limit:
            _cut(links, links.heap[0], alpha)
        weakest = links.link[links.heap[0]]
        if not weakest > limit:
            return  # risks that overflowed are not told apart
        alpha = max(alpha, weakest)


@kernel
def _cut(links: Links, top: int, alpha: float) -> None:
    more = links.risk[top] - links.below[top]
    fewer = links.leaves[top] - 1
    _cut_below(links, top, alpha)
    node = top
    while node >= 0:
        links.below[node] += more
        links.leaves[node] -= fewer
        if links.link[node] < np.inf:
            _settle(links, node, _link(links, node))
        node = links.parent[node]


@kernel
def _cut_below(links: Links, top: int, alpha: float) -> None:
    links.stack[0], size = top, 1
    while size > 0:
        size -= 1
        node = links.stack[size]
        if links.link[node] == np.inf:
            continue
        links.alpha_cut[node] = alpha
        _settle(links, node, np.inf)
        first = links.first_child[node]
        for child in range(first, first + links.n_branches[node]):
            links.stack[size] = child
            size += 1


@kernel
def _link(links: Links, node: int) -> float:
    fewer = max(links.leaves[node] - 1, 1)
    link: float = (links.risk[node] - links.below[node]) / fewer
    return link


@kernel
def _settle(links: Links, node: int, link: float) -> None:
    """Gives a node its link and moves it to where it then belongs in the heap."""
    heap, place = links.heap, links.place
    links.link[node] = link
    at = place[node]
    while at > 0 and _is_before(links, node, heap[(at - 1) // 2]):
        heap[at] = heap[(at - 1) // 2]
        place[heap[at]] = at
        at = (at - 1) // 2
    below = 2 * at + 1
    while below < len(heap):
        if below + 1 < len(heap) and _is_before(links, heap[below + 1], heap[below]):
            below += 1
        if not _is_before(links, heap[below], node):
            break
        heap[at] = heap[below]
        place[heap[at]] = at
        at, below = below, 2 * below + 1
    heap[at], place[node] = node, at


@kernel
def _is_before(links: Links, one: int, other: int) -> bool:
    link = links.link
    return link[one] < link[other] or (link[one] == link[other] and one < other)


class Complexity(NamedTuple):
    """What rpart knows of each node, from the bottom up."""

    first_child: Ints
    n_branches: Ints
    is_leaf: Bools
    is_left: Bools  # the side with the smaller mean, which is collapsed last
    risk: Floats
    below: Floats  # the risk of the leaves that are left below it
    splits: Floats  # how many splits are left in it
    complexity: Floats
    terms: Floats  # room to sum over the children of a node
    todo: Ints
    sums: Floats


@kernel
def rpart_complexity(nodes: Complexity, parent: Ints) -> None:
    """Fills in `complexity`, no node's larger than its parent's."""
    for node in range(len(parent) - 1, -1, -1):
        if not nodes.is_leaf[node]:
            _collapse_children(nodes, node)
            _take_children(nodes, node)
    for node in range(1, len(parent)):
        nodes.complexity[node] = min(nodes.complexity[node], nodes.complexity[parent[node]])


@kernel
def _collapse_children(nodes: Complexity, node: int) -> None:
    """Makes leaves of the children that the node's own link outlasts."""
    child = _next_child(nodes, node, node)
    while child != node:
        if _complexity(nodes, node) <= nodes.complexity[child]:
            break
        nodes.below[child], nodes.splits[child] = nodes.risk[child], 0.0
        child = _next_child(nodes, node, child)


@kernel
def _take_children(nodes: Complexity, node: int) -> None:
    nodes.complexity[node] = _complexity(nodes, node)
    if nodes.complexity[node] > 0:
        nodes.below[node] = _risk_below(nodes, node)
        nodes.splits[node] = _n_splits(nodes, node)


@kernel
def _complexity(nodes: Complexity, node: int) -> float:
    saved = nodes.risk[node] - _risk_below(nodes, node)
    complexity: float = saved / _n_splits(nodes, node)
    return complexity


@kernel
def _risk_below(nodes: Complexity, node: int) -> float:
    """The risk of the children together, added as numpy adds: bits decide between equal links."""
    first, n_branches = nodes.first_child[node], nodes.n_branches[node]
    nodes.terms[0] = -0.0
    for branch in range(n_branches):
        nodes.terms[1 + branch] = nodes.below[first + branch]
    total: float = summed(nodes.terms, 1 + n_branches, nodes.todo, nodes.sums)
    return total


@kernel
def _n_splits(nodes: Complexity, node: int) -> float:
    first, n_branches = nodes.first_child[node], nodes.n_branches[node]
    total: float = n_branches - 1.0
    for child in range(first, first + n_branches):
        total += nodes.splits[child]
    return total


@kernel
def _next_child(nodes: Complexity, node: int, last: int) -> int:
    """The inner child that is collapsed after the last one; the node itself is before and after.

    Leaves have no complexity, and nothing to collapse: whoever comes after them decides alike.
    """
    first, found = nodes.first_child[node], node
    for child in range(first, first + nodes.n_branches[node]):
        if nodes.is_leaf[child] or (last != node and not _is_weaker(nodes, last, child)):
            continue
        if found == node or _is_weaker(nodes, child, found):
            found = child
    return found


@kernel
def _is_weaker(nodes: Complexity, one: int, other: int) -> bool:
    if nodes.complexity[one] != nodes.complexity[other]:
        return bool(nodes.complexity[one] < nodes.complexity[other])
    if nodes.is_left[one] != nodes.is_left[other]:
        return bool(nodes.is_left[other])
    return one < other
