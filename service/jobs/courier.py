"""The courier: a thread of the worker that tells webhooks of jobs that have ended."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

from service.actions.webhook import notice, signed
from service.errors import BoughError
from service.jobs.post import Undelivered, post
from service.jobs.stop import Stop
from service.settings import Settings
from service.storage import deliveries, jobs
from service.storage.engine import Store
from service.storage.records import Errand

SECONDS = 10.0  # that a receiver may take
logger = logging.getLogger(__name__)


@contextmanager
def delivering(store: Store, settings: Settings, stop: Stop) -> Iterator[None]:
    """A block in which webhooks are told; it does not wait for one that is slow to answer."""
    # What is cut off by our end is due again when its lease has run out.
    courier = Thread(target=_deliver, args=(store, settings, stop), name="courier", daemon=True)
    courier.start()
    try:
        yield
    finally:
        courier.join(1.0)


def _deliver(store: Store, settings: Settings, stop: Stop) -> None:
    while not stop.is_set:
        try:
            went = run_errand(store, settings)
        except BoughError:  # the database is away, or the job was deleted
            went = False
        except Exception:
            logger.exception("delivery broke")
            went = False
        if not went:
            stop.wait(settings.poll_seconds)


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
