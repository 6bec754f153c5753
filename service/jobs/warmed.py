"""Importing this has the kernels loaded: the fork server does so once for all its children.

A child would take its time for that, and the memory that its training may take.
"""

import logging
import os
import time

from service.actions.warm import load, warm
from service.logs import configure_logging
from service.settings import read_settings
from service.tree.kernels.cache import UNKEPT, place
from service.tree.kernels.compile import n_compiled

logger = logging.getLogger(__name__)


def get_warm() -> None:
    """Load the kernels; if they are not kept, compile them all, and tell of it."""
    began = time.monotonic()
    load()
    if not n_compiled():
        return
    warm()
    told = {"seconds": round(time.monotonic() - began, 1), "place": str(place())}
    if UNKEPT:
        logger.warning("kernels compiled, which cannot be kept", extra=told)
    else:
        logger.warning("kernels compiled; `bough warm` does so ahead", extra=told)


configure_logging(read_settings(os.environ).log_level)
try:
    get_warm()
except Exception:  # whatever it is, each training that has to do with it will tell
    logger.exception("kernels cannot be loaded")
