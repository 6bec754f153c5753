"""The courier: a thread of the worker that tells webhooks of jobs that have ended."""

import logging
import time
from contextlib import AbstractContextManager
from functools import partial

from service.actions.webhook import notice, signed
from service.jobs.chores import doing
from service.jobs.post import Undelivered, post
from service.jobs.stop import Stop
from service.settings import Settings
from service.storage import deliveries, jobs
from service.storage.engine import Store
from service.storage.records import Errand

SECONDS = 10.0  # that a receiver may take
logger = logging.getLogger(__name__)


def delivering(store: Store, settings: Settings, stop: Stop) -> AbstractContextManager[None]:
    """A block in which webhooks are told."""
    # What is cut off by our end is due again when its lease has run out.
    return doing("courier", partial(run_errand, store, settings), settings.poll_seconds, stop)


def run_errand(store: Store, settings: Settings) -> bool:
    """Whether a delivery was due; it was tried once."""
    with store.writing() as session:
        errand = deliveries.claim(session)
        if errand is None:
            return False
        body = notice(jobs.fetch_job(session, errand.job_id))
    told = {"job": errand.job_id, "attempt": errand.attempt}
    try:
        _post(errand, body, may_be_private=settings.webhook_private)
    except Undelivered as why:
        logger.warning("webhook not delivered", extra=told | {"why": str(why)})
        with store.writing() as session:
            deliveries.failed(session, errand, str(why))
    else:
        logger.info("webhook delivered", extra=told)
        with store.writing() as session:
            deliveries.delivered(session, errand)
    return True


def _post(errand: Errand, body: bytes, *, may_be_private: bool) -> None:
    headers = {"Content-Type": "application/json", "User-Agent": "bough"}
    headers |= signed(body, errand.webhook.secret, int(time.time()))
    post(errand.webhook.url, body, headers, seconds=SECONDS, may_be_private=may_be_private)
