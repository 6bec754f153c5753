"""Webhooks: a real receiver is told how a job ended, at least once and signed."""

import hmac
import json
import logging
import socket
import time
from dataclasses import replace
from threading import Thread
from uuid import uuid4

import pytest

from service.actions.webhook import Forbidden, resolve
from service.jobs.courier import run_errand
from service.jobs.post import Undelivered, post
from service.settings import Settings
from service.storage import deliveries, jobs
from service.storage.clock import now
from service.storage.engine import Store
from service.storage.job_tables import DeliveryRow
from service.storage.records import Delivery, Job, JobState, NewJob, Terms, Webhook
from service.web import create_app
from tests.jobs import entries
from tests.jobs.receiver import receiving
from tests.jobs.test_processes import worker_process
from tests.jobs.test_worker import SETTINGS, fetched, wait_for, wait_until, working

OPEN = replace(SETTINGS, webhook_private=True)
SECRET = "a well kept word"


@pytest.mark.usefixtures("fork_server")
def test_the_end_of_a_job_is_told_as_the_api_tells_it_and_signed(store: Store) -> None:
    with receiving() as receiver, working(store, entries.quick, OPEN):
        job = hooked(store, receiver.url)
        assert Delivery("pending", 0, None) == job.webhook
        wait_for(store, job, JobState.SUCCEEDED)
        wait_until(lambda: Delivery("delivered", 1, None) == fetched(store, job).webhook)

    [(headers, body)] = receiver.calls
    known = create_app(OPEN, store).test_client().get(f"/jobs/{job.id}").json
    assert {"state": "delivered", "attempts": 1, "last_error": None} == known.pop("webhook")
    assert known == json.loads(body)
    message = headers["Bough-Timestamp"].encode() + b"." + body
    signature = hmac.new(SECRET.encode(), message, "sha256").hexdigest()
    assert f"sha256={signature}" == headers["Bough-Signature"]
    assert abs(time.time() - int(headers["Bough-Timestamp"])) < 60
    assert receiver.url.split("/")[2] == headers["Host"]


def test_nothing_is_told_before_the_end(store: Store) -> None:
    with receiving() as receiver:
        hooked(store, receiver.url)

        assert not run_errand(store, OPEN)


def test_a_job_that_is_cancelled_is_told_too(store: Store) -> None:
    with receiving() as receiver:
        cancelled(store, receiver.url)
        assert run_errand(store, OPEN)
        assert not run_errand(store, OPEN)

    assert "cancelled" == json.loads(receiver.calls[0][1])["state"]


@pytest.mark.usefixtures("no_pause")
def test_a_receiver_that_fails_is_told_again(store: Store) -> None:
    with receiving(500, 302, 200) as receiver:
        job = cancelled(store, receiver.url)
        told = [tried(store, job) for _ in range(3)]

    redirected = "The answer was 302; redirects are not followed."
    assert told == [
        Delivery("pending", 1, "The answer was 500."),
        Delivery("pending", 2, redirected),
        Delivery("delivered", 3, None),
    ]
    assert 3 == len(receiver.calls)


@pytest.mark.usefixtures("no_pause")
def test_after_five_attempts_it_has_failed_and_the_secret_is_gone(store: Store) -> None:
    with receiving(503) as receiver:
        job = cancelled(store, receiver.url)
        told = [tried(store, job) for _ in range(5)]
        assert not run_errand(store, OPEN)

    assert Delivery("failed", 5, "The answer was 503.") == told[-1]
    with store.reading() as session:
        assert session.get_one(DeliveryRow, job.id).secret is None


def test_the_pause_doubles(sqlite_store: Store) -> None:
    with receiving(503) as receiver:
        cancelled(sqlite_store, receiver.url)
        pauses = [pause_after_a_try(sqlite_store) for _ in range(4)]

    assert [2, 4, 8, 16] == [round(pause) for pause in pauses]


def test_an_address_that_is_not_public_is_not_called(store: Store) -> None:
    with receiving() as receiver:
        job = cancelled(store, receiver.url)
        run_errand(store, Settings())

    assert [] == receiver.calls
    assert "not public" in fetched(store, job).webhook.last_error


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1",
        "0.0.0.0", "2130706433", "224.0.0.1", "::1", "::", "fd00::1", "fe80::1",
        "::ffff:10.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::1", "localhost",
    ],
)  # fmt: skip
def test_an_address_that_is_not_public_passes_only_where_that_is_allowed(host: str) -> None:
    with pytest.raises(Forbidden):
        resolve(host, 80, may_be_private=False)
    assert resolve(host, 80, may_be_private=True)


@pytest.mark.parametrize("host", ["8.8.8.8", "2606:4700:4700::1111"])
def test_a_public_address_passes(host: str) -> None:
    assert [host] == resolve(host, 80, may_be_private=False)


def test_what_cannot_be_reached_is_told_in_a_sentence() -> None:
    with socket.socket() as nobody:
        nobody.bind(("127.0.0.1", 0))
        port = nobody.getsockname()[1]
        with pytest.raises(Undelivered, match="ConnectionRefusedError"):
            post_to(f"http://127.0.0.1:{port}/")
    with receiving() as receiver, pytest.raises(Undelivered, match="SSLError"):
        post_to(receiver.url.replace("http:", "https:"))


def test_a_receiver_that_drips_is_cut_off() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        Thread(target=drip, args=[server]).start()
        started = time.monotonic()
        with pytest.raises(Undelivered, match=r"within 0\.5 seconds"):
            post_to(f"http://127.0.0.1:{server.getsockname()[1]}/", seconds=0.5)

    assert time.monotonic() - started < 2


def test_what_a_killed_worker_was_about_to_tell_is_told_by_another(
    store: Store, database_url: str
) -> None:
    with receiving(is_slow=True) as receiver:
        job = hooked(store, receiver.url)
        with worker_process(database_url, "quick") as worker:
            wait_until(lambda: 1 == len(receiver.calls))
            worker.kill()
        receiver.may_answer.set()
        with store.writing() as session:  # as if its lease had run out
            session.execute(deliveries.update(DeliveryRow).values(run_after=now()))
        assert Delivery("delivered", 2, None) == tried(store, job)

    assert receiver.calls[0][1] == receiver.calls[1][1]


def test_the_secret_is_never_logged(sqlite_store: Store, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with receiving(500) as receiver:
        cancelled(sqlite_store, receiver.url)
        run_errand(sqlite_store, OPEN)

    assert "webhook not delivered" in caplog.messages
    assert SECRET not in str([vars(record) for record in caplog.records])
    assert SECRET not in repr(Webhook(receiver.url, SECRET))


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deliveries, "FIRST_PAUSE", 0.0)


def hooked(store: Store, url: str) -> Job:
    terms = Terms(webhook=Webhook(url, SECRET))
    with store.writing() as session:
        return jobs.submit(session, str(uuid4()), NewJob("西瓜", b""), 3, terms)


def cancelled(store: Store, url: str) -> Job:
    job = hooked(store, url)
    with store.writing() as session:
        return jobs.cancel(session, job.id)


def tried(store: Store, job: Job) -> Delivery | None:
    assert run_errand(store, OPEN)
    return fetched(store, job).webhook


def pause_after_a_try(store: Store) -> float:
    assert run_errand(store, OPEN)
    with store.writing() as session:
        due = session.scalars(deliveries.select(DeliveryRow.run_after)).one()
        session.execute(deliveries.update(DeliveryRow).values(run_after=now()))
    return due.timestamp() - time.time()


def post_to(url: str, seconds: float = 5) -> None:
    post(url, b"{}", {}, seconds=seconds, may_be_private=True)


def drip(server: socket.socket) -> None:
    """An answer that never comes to its end."""
    connection, _ = server.accept()
    with connection:
        for letter in "HTTP/1.1 200 " + 100 * "x":
            try:
                connection.send(letter.encode())
            except OSError:
                return
            time.sleep(0.05)
