"""What the views need: the settings, the database, what is in memory, places to last long."""

from dataclasses import dataclass

from flask import current_app

from service.actions.keep_warm import Warmth
from service.actions.memory import Memory
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
    memory: Memory
    places: Places
    warmth: Warmth


def context() -> Context:
    """The context of the app that answers this request."""
    found: Context = current_app.extensions[EXTENSION]
    return found
