"""How a tree is to be grown: presets, each of whose parts can be overridden by name."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class GrowParams:
    """What the learner is told. The limits keep it from following every last row."""

    criterion: str = "gain"
    max_depth: int | None = None  # None: as deep as it goes
    min_weight: float = 0.0  # a split needs two branches that hold at least this much known weight
    min_gain: float = 0.0  # a split must gain at least this, and always more than nothing


PRESETS: dict[str, GrowParams] = {
    "id3": GrowParams(criterion="gain"),
    "gain_ratio": GrowParams(criterion="gain_ratio"),
    "gini": GrowParams(criterion="gini"),
}
DEFAULT_PRESET = "id3"


def resolve(preset: str, overrides: Mapping[str, Any]) -> GrowParams:
    """The preset with the parts that were named replaced."""
    return GrowParams(**(asdict(PRESETS[preset]) | dict(overrides)))
