"""What jobs make and tell, for those who run them and need not know how it is done."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from service.errors import Fault
from service.storage.records import Progress, StoredFile, VersionDraft
from service.tree.nodes import Tree

Report: TypeAlias = Callable[[Progress], None]


@dataclass(frozen=True)
class Trained:
    """What a training makes; with a cost-complexity sequence the tree is its largest."""

    draft: VersionDraft
    tree: Tree


@dataclass(frozen=True)
class Scored:
    """What a scoring makes."""

    file: StoredFile
    n_rows: int
    warnings: tuple[Fault, ...] = ()
