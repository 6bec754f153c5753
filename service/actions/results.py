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

    @property
    def warnings(self) -> tuple[Fault, ...]:
        """What is odd about the data."""
        odd = self.draft.metrics.get("notes", {}).get("warnings", ())
        return tuple(Fault(each["pointer"], each["detail"]) for each in odd)


@dataclass(frozen=True)
class Scored:
    """What a scoring makes."""

    file: StoredFile
    n_rows: int
    warnings: tuple[Fault, ...] = ()
