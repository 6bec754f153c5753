"""What is measured: data, contenders and the limits that must hold."""

from dataclasses import dataclass, replace
from typing import Any

from bench.contest import N_THREADS, Contender
from bench.data import Recipe
from bench.peers.places import J48, LIGHTGBM, OURS, RPART, SCIKIT_LEARN, XGBOOST, YDF

MIN_LEAF = 5
SIZES = {"1k": 1_000, "10k": 10_000, "100k": 100_000, "1m": 1_000_000}
ROUNDS = {"1k": 9, "10k": 7, "100k": 3, "1m": 3}
TO_SCIKIT_LEARN = {"1k": 0.15, "10k": 0.06, "100k": 0.05, "1m": 0.03}
TO_SCIKIT_LEARN_REGRESSION = {"1k": 0.15, "10k": 0.15, "100k": 0.08}
TO_YDF = 0.25  # four times as fast
LARGEST_STORED = "the largest set of tests/data"
SECONDS, BYTES_A_CELL = "seconds", "bytes a cell"
# without being told, the learner may search large data by bins
EXACT = {"search": "exact"}


@dataclass(frozen=True)
class Target:
    """What a contender must not exceed: so much of the fastest of some peers, or by itself."""

    contender: str
    limit: float
    peers: tuple[str, ...] = ()
    measure: str = SECONDS


@dataclass(frozen=True)
class Workload:
    """One contest."""

    name: str
    recipe: Recipe | str
    contenders: tuple[Contender, ...]
    targets: tuple[Target, ...]
    n_rounds: int


def ours(name: str, preset: str, **params: Any) -> Contender:
    """Our learner."""
    return Contender(f"ours {name}", OURS, {"preset": preset, **params})


def theirs(peer: str, name: str = "", **settings: Any) -> Contender:
    """A peer with the settings that all have in common."""
    common = {"min_leaf": MIN_LEAF, "n_threads": N_THREADS}
    return Contender(f"{peer} {name}".strip(), peer, common | settings)


def exact_classes(size: str, n_classes: int) -> Workload:
    """Numeric, deep, 2 or 10 classes."""
    contenders: tuple[Contender, ...] = (
        ours("entropy", "id3", min_weight=MIN_LEAF, **EXACT),
        theirs(SCIKIT_LEARN, "entropy", criterion="entropy"),
        ours("gini", "gini", min_weight=MIN_LEAF, **EXACT),
        theirs(SCIKIT_LEARN, "gini", criterion="gini"),
        theirs(YDF),
    )
    if size != "1m":
        contenders += (theirs(RPART, "gini"), theirs(LIGHTGBM), theirs(XGBOOST), theirs(J48))
    limit = TO_SCIKIT_LEARN[size]
    targets = tuple(
        Target(f"ours {criterion}", limit, (f"{SCIKIT_LEARN} {criterion}",))
        for criterion in ("entropy", "gini")
    )
    if size != "1k":
        targets += (Target("ours entropy", TO_YDF, (YDF,)),)
    if size == "1m":
        targets += (memory("ours entropy"), memory("ours gini"))
    recipe = Recipe(SIZES[size], n_classes)
    return Workload(f"exact-{size}-{n_classes}", recipe, contenders, targets, ROUNDS[size])


def exact_regression(size: str) -> Workload:
    """Numeric, deep, a number to predict."""
    name = "ours squared error"
    contenders: tuple[Contender, ...] = (
        ours("squared error", "id3", criterion="squared_error", min_weight=MIN_LEAF, **EXACT),
        theirs(YDF),
    )
    targets: tuple[Target, ...] = () if size == "1k" else (Target(name, TO_YDF, (YDF,)),)
    if size in TO_SCIKIT_LEARN_REGRESSION:
        peer = theirs(SCIKIT_LEARN, "squared error", criterion="squared_error")
        contenders += (peer, theirs(RPART), theirs(LIGHTGBM), theirs(XGBOOST))
        targets += (Target(name, TO_SCIKIT_LEARN_REGRESSION[size], (peer.name,)),)
    else:
        targets += (memory(name),)
    recipe = Recipe(SIZES[size], n_classes=0)
    return Workload(f"exact-{size}-regression", recipe, contenders, targets, ROUNDS[size])


def exact_depth_8(size: str) -> Workload:
    """Numeric, 2 classes, eight levels."""
    depth: dict[str, Any] = {"max_depth": 8}
    contenders = (
        ours("entropy", "id3", min_weight=MIN_LEAF, **depth, **EXACT),
        theirs(SCIKIT_LEARN, "entropy", criterion="entropy", **depth),
        theirs(YDF, **depth),
    )
    targets = (Target("ours entropy", TO_YDF, (YDF,)),)
    recipe = Recipe(SIZES[size])
    return Workload(f"exact-{size}-2-depth8", recipe, contenders, targets, ROUNDS[size])


def histogram(size: str, **depth: Any) -> Workload:
    """Numeric, 2 classes, by bins."""
    peers = tuple(
        replace(theirs(peer, f"{waiting} threads", **depth), waiting=waiting)
        for peer in (LIGHTGBM, XGBOOST)
        for waiting in ("passive", "active")
    )
    own = ours("histogram", "id3", min_weight=MIN_LEAF, search="histogram", **depth)
    fastest = Target(own.name, 0.5, tuple(peer.name for peer in peers))
    name = f"histogram-{size}-2" + ("-depth8" if depth else "")
    targets = (fastest, memory(own.name))
    return Workload(name, Recipe(SIZES[size]), (own, *peers), targets, ROUNDS[size])


def mixed(size: str, percent: int) -> Workload:
    """Ten numeric and ten categorical attributes, nulls divided, deep."""
    contenders = (
        ours("entropy", "id3", min_weight=MIN_LEAF, **EXACT),
        ours("c45, unpruned", "c45", pruning="none", min_weight=MIN_LEAF, **EXACT),
        ours("histogram", "id3", min_weight=MIN_LEAF, search="histogram"),
        theirs(J48),
        theirs(YDF),
        theirs(SCIKIT_LEARN, "entropy", criterion="entropy"),
        *(theirs(RPART), theirs(LIGHTGBM), theirs(XGBOOST)),
    )
    targets: tuple[Target, ...] = ()
    if percent > 0:
        targets = (
            Target("ours entropy", 0.05, (J48,)),
            Target("ours c45, unpruned", 0.05, (J48,)),
            Target("ours entropy", 0.5, (YDF,)),
            Target("ours c45, unpruned", 0.5, (YDF,)),
            Target("ours histogram", 0.5, (YDF,)),
        )
    name = f"mixed-{size}-{percent}"
    return Workload(name, half_and_half(size, percent), contenders, targets, ROUNDS[size])


def half_and_half(size: str, percent: int) -> Recipe:
    """As many numeric as categorical columns, and so many nulls."""
    return Recipe(SIZES[size], n_numeric=10, n_categorical=10, nulls=percent / 100)


def c45(size: str, percent: int) -> Workload:
    """The preset with its pruning beside J48 with its defaults."""
    contenders = (ours("c45", "c45", **EXACT), theirs(J48, min_leaf=2, pruned=True))
    targets = (Target("ours c45", 0.05, (J48,)),)
    name = f"c45-{size}-{percent}"
    return Workload(name, half_and_half(size, percent), contenders, targets, ROUNDS[size])


def cart(size: str, percent: int) -> Workload:
    """The preset with its cross-validation beside itself without."""
    contenders = (
        ours("cart, 10 folds", "cart", **EXACT),
        ours("cart, plain", "cart", alpha=0.0, **EXACT),
        theirs(RPART, "10 folds", min_leaf=1, folds=10),
    )
    targets = (Target("ours cart, 10 folds", 14.0, ("ours cart, plain",)),)
    name = f"cart-{size}-{percent}"
    return Workload(name, half_and_half(size, percent), contenders, targets, ROUNDS[size])


def memory(contender: str) -> Target:
    """Twice the input, which has 8 bytes a cell."""
    return Target(contender, 16.0, measure=BYTES_A_CELL)


AUTO = Workload(
    "auto", LARGEST_STORED, (ours("auto", "auto"),), (Target("ours auto", 10.0),), n_rounds=3
)
WORKLOADS = {
    workload.name: workload
    for workload in (
        *(exact_classes(size, n_classes) for size in SIZES for n_classes in (2, 10)),
        *(exact_regression(size) for size in SIZES),
        *(exact_depth_8(size) for size in ("100k", "1m")),
        *(histogram("1m", max_depth=8), histogram("1m")),
        *(mixed(size, percent) for size in ("10k", "100k") for percent in (0, 10, 40)),
        *(c45("100k", percent) for percent in (0, 10)),
        *(cart(size, 10) for size in ("10k", "100k")),
        AUTO,
    )
}
