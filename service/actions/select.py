"""Which version a request means: `name`, `name` with a version number, or `name@alias`."""

from dataclasses import dataclass

from service.errors import Fault, InvalidData
from service.storage import versions
from service.storage.engine import Session
from service.storage.records import Version, VersionKey


@dataclass(frozen=True)
class Selection:
    """A model's name, and at most one of version number and alias; neither means the newest."""

    model: str
    version: int | None = None
    alias: str | None = None

    @property
    def selected(self) -> tuple[str, int | None]:
        """The same as it was asked for: `name` or `name@alias`, and a version's number."""
        named = self.model if self.alias is None else f"{self.model}@{self.alias}"
        return named, self.version


def read_selection(model: str, version: int | None) -> Selection:
    """The selection that `name` or `name@alias` and an optional version number make."""
    name, at, alias = model.partition("@")
    if at and version is not None:
        detail = f"{model!r} names an alias, so no version can be given beside it"
        raise InvalidData(detail, [Fault("/version", detail)])
    return Selection(name, version, alias if at else None)


def fetch_selected(session: Session, selection: Selection) -> Version:
    """The version that is selected; NotFound says what there is not."""
    return versions.fetch_version(
        session, selection.model, number=selection.version, alias=selection.alias
    )


def find_selected(session: Session, selection: Selection) -> VersionKey:
    """The key of the version that is selected; NotFound says what there is not."""
    return versions.find_version(
        session, selection.model, number=selection.version, alias=selection.alias
    )
