"""What the views need: the settings, the database and the trees in memory."""

from dataclasses import dataclass

from flask import current_app

from service.actions.cache import TreeCache
from service.settings import Settings
from service.storage.engine import Store

EXTENSION = "bough"


@dataclass(frozen=True)
class Context:
    """What one app works with."""

    settings: Settings
    store: Store
    cache: TreeCache


def context() -> Context:
    """The context of the app that answers this request."""
    found: Context = current_app.extensions[EXTENSION]
    return found
