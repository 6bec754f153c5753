"""What the views need: the settings, the database, the trees in memory, places to last long."""

from dataclasses import dataclass

from flask import current_app

from service.actions.cache import TreeCache
from service.settings import Settings
from service.storage.engine import Store
from service.web.places import Places

EXTENSION = "bough"
IS_LEAVING = "IS_LEAVING"  # of the app's config: tells whether this process is to end


@dataclass(frozen=True)
class Context:
    """What one app works with."""

    settings: Settings
    store: Store
    cache: TreeCache
    places: Places


def context() -> Context:
    """The context of the app that answers this request."""
    found: Context = current_app.extensions[EXTENSION]
    return found
