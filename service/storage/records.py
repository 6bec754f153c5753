"""What storage takes and gives back: frozen records, free of SQL."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Generic, TypeVar

from service.errors import Fault, Misfit
from service.tree.attribute import Attribute
from service.tree.summary import ColumnSummary

# Where a page ended: the sort value of its last item, then the tie-breaker if it needs one. It is
# made of what JSON can carry.
Position = tuple[str | int, ...]
Item = TypeVar("Item")
LARGEST = 2**31 - 1  # of the whole numbers that our columns hold
VersionKey = tuple[int, str]  # the id of a version, which may be used again, and that of its job


class JobState(StrEnum):
    """Where a job stands; the last three never change again."""

    QUEUED = "queued"
    RUNNING = "running"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNDER_WAY = (JobState.QUEUED, JobState.RUNNING)  # the states of jobs that have not ended


class JobKind(StrEnum):
    """What a job does."""

    TRAIN = "train"
    BATCH_PREDICT = "batch_predict"


class FileState(StrEnum):
    """Whether a file beside the database is whole."""

    PENDING = "pending"  # it is being written, or whoever did is gone
    KEPT = "kept"
    DOOMED = "doomed"  # nobody needs it; it may be gone already


class NodeState(StrEnum):
    """What a node is in the tree that is served."""

    INNER = "inner"
    LEAF = "leaf"
    PRUNED = "pruned"  # below a leaf; it is there at a smaller alpha


@dataclass(frozen=True)
class Progress:
    """How far a training has come."""

    fraction: float = 0.0
    stage: str = "queued"
    nodes: int = 0
    rows: int = 0  # that are trained on; or scored so far


@dataclass(frozen=True)
class Limits:
    """What a training may take; None leaves it to the settings."""

    seconds: float | None = None
    memory_bytes: int | None = None


@dataclass(frozen=True)
class Key:
    """A caller's own name for an order, and the digest that tells the order from others."""

    name: str
    digest: str


@dataclass(frozen=True)
class Webhook:
    """Where to tell the end of a job, and the secret that signs it."""

    url: str
    secret: str = field(repr=False)


class DeliveryState(StrEnum):
    """Whether the end of a job was told."""

    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


@dataclass(frozen=True)
class Delivery:
    """How it stands with telling the end of a job."""

    state: DeliveryState
    attempts: int
    last_error: str | None


@dataclass(frozen=True)
class Errand:
    """A delivery that is ours for a while; the token tells us from later owners."""

    job_id: str
    token: str
    attempt: int
    webhook: Webhook


@dataclass(frozen=True, kw_only=True)
class Terms:
    """On what terms a job is done."""

    priority: int = 0
    limits: Limits = Limits()
    key: Key | None = None
    webhook: Webhook | None = None


@dataclass(frozen=True)
class NewJob:
    """What a job is to do."""

    model: str
    body: bytes
    kind: JobKind = JobKind.TRAIN
    dataset: str | None = None  # the id of the one that it reads
    version: int | None = None  # the number of the one that it scores with


@dataclass(frozen=True, kw_only=True)
class Job:
    """An order to train or to score, as everybody may see it."""

    id: str
    kind: JobKind
    model: str
    dataset: str | None  # the id of the one it reads
    state: JobState
    progress: Progress
    attempt: int
    max_attempts: int
    error: Mapping[str, Any] | None  # a problem: type, title, detail, errors
    version: int | None  # the number of the version it made, or scores with
    warnings: tuple[Fault, ...]  # what was odd in the rows that it scored
    cancel_requested: bool
    priority: int
    webhook: Delivery | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    elapsed_seconds: float | None  # of the current or last attempt; None while it waits

    @property
    def has_result(self) -> bool:
        """Whether it made a file of predictions."""
        return self.kind == JobKind.BATCH_PREDICT and self.state == JobState.SUCCEEDED


@dataclass(frozen=True)
class Claim:
    """A job that is ours for as long as we renew it; the token tells us from later owners."""

    job_id: str
    token: str
    attempt: int
    max_attempts: int
    model: str
    limits: Limits = Limits()
    kind: JobKind = JobKind.TRAIN
    version: int | None = None  # the number of the one that it scores with


@dataclass(frozen=True)
class StoredFile:
    """A file beside the database."""

    name: str
    format: str
    n_bytes: int
    checksum: str


@dataclass(frozen=True, kw_only=True)
class DatasetDraft:
    """What is known of an uploaded table when it has been read."""

    name: str | None
    format: str
    n_rows: int
    columns: tuple[ColumnSummary, ...]
    warnings: tuple[Misfit, ...]
    first_line: int | None  # of the first row, where each row is one line
    n_bytes: int  # as sent
    checksum: str  # of what was sent


@dataclass(frozen=True, kw_only=True)
class StoredDataset(DatasetDraft):
    """A draft that was kept, with the file that holds it; it never changes."""

    id: str
    file: StoredFile
    created_at: datetime


@dataclass(frozen=True, kw_only=True)
class VersionDraft:
    """What a training makes beside the tree."""

    model: str
    task: str
    target: str
    classes: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    ignored: tuple[str, ...]
    params: Mapping[str, Any]
    metrics: Mapping[str, Any]
    n_rows: int
    alpha: float | None = None  # at which its cost-complexity sequence is served, if it has one
    group_costs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Version(VersionDraft):
    """A draft that was kept under a model's name; apart from its aliases it never changes."""

    id: int
    number: int
    n_nodes: int
    n_leaves: int
    depth: int
    job_id: str
    created_at: datetime
    aliases: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Model:
    """A name with versions; `latest` is the number of the newest, aliases name others."""

    name: str
    created_at: datetime
    updated_at: datetime
    latest: int
    aliases: Mapping[str, int]
    warm: bool  # whether each web process loads it ahead


@dataclass(frozen=True)
class AliasMove:
    """An alias was pointed at a version, or removed (version is None)."""

    alias: str
    version: int | None
    moved_at: datetime


@dataclass(frozen=True, kw_only=True)
class NodeRecord:
    """One node row with names in the place of numbers; the condition is on the edge to it."""

    node: int
    parent: int | None
    depth: int
    branch: int
    operator: str | None
    threshold: float | None
    category: str | None
    categories: tuple[str, ...] | None  # where the condition is on a set of them
    share: float
    weight: float
    impurity: float
    attribute: str | None  # what it splits on; None at a leaf
    split: str | None
    gain: float | None
    distribution: Mapping[str, float]  # empty in regression
    mean: float | None
    variance: float | None
    alpha_cut: float | None
    state: NodeState


@dataclass(frozen=True)
class Page(Generic[Item]):
    """Some items in order, and the position to go on from; None after the last page."""

    items: tuple[Item, ...]
    next: Position | None
