"""Pessimistic pruning, as C4.5 has it: a leaf is believed to err more than it did in training."""

from dataclasses import replace

import numpy as np

from service.tree.arrays import Floats
from service.tree.bounds import deviate
from service.tree.c45 import is_empty, tolerance_of
from service.tree.context import Context
from service.tree.criterion import CRITERIA
from service.tree.grown import Grown
from service.tree.kernels.bounds import C45, EXACT, J48, Judge
from service.tree.kernels.divide import Entries, Rows
from service.tree.kernels.order import errors_below
from service.tree.kernels.prune import Standing, make_room, prune_standing
from service.tree.nodes import Tree
from service.tree.params import Params
from service.tree.rebuild import rebuilt
from service.tree.ways import ways_of

MARGIN = 0.1  # how much better than its replacement a subtree must be believed to be
COLLAPSE = 1e-3
BOUNDS = {"c45": C45, "j48": J48, "exact": EXACT}


def collapse(grown: Grown) -> Grown:
    """The tree in which each node is a leaf whose subtree gets no fewer training rows right."""
    tree = grown.tree
    most = tree.distribution.max(axis=1, initial=0.0)
    errors = np.where(tree.weight > 0, tree.weight - most, 0.0)
    n_branches = np.where(tree.is_leaf, 0, tree.n_branches)
    below = errors_below(tree.first_child, n_branches, errors)
    is_leaf = tree.is_leaf | (below >= errors - COLLAPSE)
    made, nodes = rebuilt(tree, np.where(is_leaf, -1, np.arange(len(tree))))
    return Grown(made, grown.part, np.where(made.is_leaf, np.nan, grown.filled[nodes]))


def prune(context: Context, grown: Grown) -> Tree:
    """The tree without what is believed to err more than a leaf, or than its largest branch."""
    assert not context.data.is_regression
    nodes, part = _standing(grown.tree), grown.part
    ways = ways_of(grown.tree, context.data.attributes, grown.filled)
    room = make_room(nodes, ways, rows_for(context), _judge(context.params), len(part.rows))
    prune_standing(room, Entries(part.rows, part.weights))
    return _frozen(context, grown.tree, nodes)


def rows_for(context: Context) -> Rows:
    """The rows of the dataset, to be divided as the params say."""
    data, params = context.data, context.params
    least_share = np.inf if params.missing == "stop" else tolerance_of(params)
    target = np.zeros(0, np.int64) if data.is_regression else data.target.astype(np.int64)
    return Rows(np.ascontiguousarray(data.values.T), target, least_share)


def _judge(params: Params) -> Judge:
    tolerance = tolerance_of(params)
    return Judge(
        BOUNDS[params.bound],
        float(params.confidence),
        deviate(params.bound, params.confidence),
        tolerance,
        MARGIN + tolerance,
        params.raising,
    )


def _standing(tree: Tree) -> Standing:
    arrived = tree.weight > 0  # where nothing did, the tree has the distribution of the parent
    return Standing(
        source=np.where(tree.is_leaf, -1, np.arange(len(tree))),
        weight=tree.weight.copy(),
        distribution=np.where(arrived[:, None], tree.distribution, 0.0),
        share=tree.share.copy(),
        sent=np.zeros(len(tree)),
        below=np.zeros(len(tree)),
        is_settled=np.zeros(len(tree), dtype=bool),
    )


def _frozen(context: Context, tree: Tree, standing: Standing) -> Tree:
    """The tree of the nodes as they stand."""
    made, nodes = rebuilt(tree, standing.source)
    weight = standing.weight[nodes]
    distribution = _answers(context, made, weight, standing.distribution[nodes])
    return replace(
        made,
        share=standing.share[nodes],
        weight=weight,
        distribution=distribution,
        impurity=CRITERIA[context.params.criterion].impurity(distribution),
    )


def _answers(context: Context, tree: Tree, weight: Floats, distribution: Floats) -> Floats:
    """Per node the distribution it answers with: its own, or its parent's where it is empty."""
    empty = np.flatnonzero(is_empty(context.params, weight) & (tree.parent >= 0))
    above = tree.parent[empty]
    answers = distribution.copy()
    answers[empty] = distribution[above]
    if context.params.rules == "r8":  # Release 8 is sure of the parent's class there
        answers[empty] = 0.0
        answers[empty, np.argmax(distribution[above], axis=1)] = weight[above]
    return answers
