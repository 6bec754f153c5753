"""Watching a job: what its events tell, and that those who watch keep nobody else waiting."""

import json
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from socket import create_connection, socket
from typing import Any

import httpx
import pytest
from flask.testing import FlaskClient

from service.settings import Settings
from service.storage import jobs
from service.storage.engine import Store, open_store
from service.storage.migrate import upgrade
from service.storage.records import Progress
from service.storage.retention import forget
from service.web import create_app, events
from service.web.places import make_places
from tests.postgres import started_own
from tests.server import ended, running
from tests.web.conftest import SETTINGS, an_order
from tests.web.test_jobs import claimed, submitted
from tests.web.test_problems import problem

Event = dict[str, str]
RETRY = {"retry": "1000"}
AWAY = {"": "the database does not answer"}
QUIET = {"": "nothing new"}


def read(text: str) -> list[Event]:
    """The events of a stream by their fields; a comment is a field without a name."""
    blocks = [block.splitlines() for block in text.split("\n\n") if block]
    return [dict(line.split(": ", 1) for line in block) for block in blocks]


def kinds(told: list[Event]) -> list[str | None]:
    return [each.get("event") for each in told if each != RETRY]


def job_of(told: Event) -> dict[str, Any]:
    job: dict[str, Any] = json.loads(told["data"])
    return job


@pytest.fixture
def watcher(store: Store, monkeypatch: pytest.MonkeyPatch) -> FlaskClient:
    """A client of an app that has a place for one watcher, and looks often."""
    monkeypatch.setattr(events, "PAUSE", 0.01)
    return create_app(replace(SETTINGS, max_streams=1), store).test_client()


@contextmanager
def watching(client: FlaskClient, job_id: str) -> Iterator[Iterator[Event]]:
    """The events of a job, each read when it is asked for; the client is gone at the end."""
    with client.get(f"/jobs/{job_id}/events") as answer:
        # each comes in a piece of its own
        stream = (each for piece in answer.iter_encoded() for each in read(piece.decode()))
        assert RETRY == next(stream)
        yield stream


# --- what is told -----------------------------------------------------------------------------


def test_an_event_has_a_kind_a_name_and_one_line_of_data() -> None:
    told = events.event("progress", "a1", b'{"a":1}')

    assert b'event: progress\nid: a1\ndata: {"a":1}\n\n' == told
    assert b": still here\n\n" == events.comment("still here")


def test_each_change_of_a_job_is_told_until_it_has_ended(
    watcher: FlaskClient, store: Store
) -> None:
    job_id = submitted(watcher, model="西瓜")
    with watching(watcher, job_id) as stream:
        told = [next(stream)]
        claim = claimed(store)
        told.append(next(stream))
        with store.writing() as session:
            jobs.renew(session, claim, Progress(0.5, "grow", 7, 6), 60)
        told.append(next(stream))
        with store.writing() as session:
            jobs.finish(session, claim, 1)
        told += stream

    assert ["progress", "progress", "progress", "ended"] == kinds(told)
    assert 4 == len({each["id"] for each in told})
    waits, starts, grows, done = map(job_of, told)
    assert ("queued", None) == (waits["state"], waits["elapsed_seconds"])
    assert ("running", "starting") == (starts["state"], starts["progress"]["stage"])
    assert {"fraction": 0.5, "stage": "grow", "nodes": 7, "rows": 6} == grows["progress"]
    assert done == watcher.get(f"/jobs/{job_id}").json


def test_who_has_seen_the_end_is_told_not_to_come_again(client: FlaskClient) -> None:
    path = f"/jobs/{submitted(client)}"
    client.post(f"{path}/cancel")
    _, last = read(client.get(f"{path}/events").text)
    again = client.get(f"{path}/events", headers={"Last-Event-ID": last["id"]})

    assert ("ended", "cancelled") == (last["event"], job_of(last)["state"])
    assert (204, b"") == (again.status_code, again.data)


def test_what_was_seen_is_not_told_again(client: FlaskClient, store: Store) -> None:
    path = f"/jobs/{submitted(client)}/events"
    _, seen = read(client.get(path).text)
    headers = {"Last-Event-ID": seen["id"]}

    assert [RETRY] == read(client.get(path, headers=headers).text)
    claimed(store)
    assert ["progress"] == kinds(read(client.get(path, headers=headers).text))


def test_that_time_passes_is_no_change(client: FlaskClient, store: Store) -> None:
    path = f"/jobs/{submitted(client)}/events"
    claimed(store)
    first, later = (read(client.get(path).text)[1] for _ in range(2))

    assert first["id"] == later["id"]


def test_nobody_between_may_keep_events_back(client: FlaskClient) -> None:
    headers = client.get(f"/jobs/{submitted(client)}/events").headers

    assert "text/event-stream; charset=utf-8" == headers["Content-Type"]
    assert "no-store" == headers["Cache-Control"]
    assert "no" == headers["X-Accel-Buffering"]


def test_a_stream_is_logged_once_as_it_begins(
    client: FlaskClient, caplog: pytest.LogCaptureFixture
) -> None:
    path = f"/jobs/{submitted(client)}/events"
    caplog.set_level(logging.INFO)
    client.get(path)

    (line,) = [vars(each) for each in caplog.records if each.name == "service.web.requests"]
    assert (200, "/jobs/{job_id}/events") == (line["status"], line["route"])


# --- where there is nothing to tell -----------------------------------------------------------


def test_there_is_no_such_job_to_watch(client: FlaskClient) -> None:
    problem(client.get("/jobs/none/events"), 404)
    problem(client.get("/jobs/%00/events"), 404)
    assert 404 == client.head("/jobs/none/events").status_code


def test_a_database_that_is_away_is_a_problem_before_the_stream(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path / 'bough.db'}")
    (tmp_path / "bough.db").mkdir()
    answer = create_app(SETTINGS, store).test_client().get("/jobs/none/events")
    store.dispose()

    problem(answer, 503)


def test_a_database_that_goes_away_during_a_stream_is_waited_for(tmp_path: Path) -> None:
    with started_own(tmp_path) as postgres:
        store = open_store(postgres.create("watched"))
        upgrade(store)
        client = create_app(replace(SETTINGS, max_streams=1), store).test_client()
        with watching(client, submitted(client)) as stream:
            told = [next(stream)]
            postgres.stop()
            told.append(next(stream))
            postgres.start()
            claimed(store)
            told.append(next(stream))
        store.dispose()

    assert ["progress", None, "progress"] == kinds(told)
    assert AWAY == told[1]


def test_a_job_that_is_deleted_has_no_more_events(watcher: FlaskClient, store: Store) -> None:
    job_id = submitted(watcher)
    with watching(watcher, job_id) as stream:
        next(stream)
        with store.writing() as session:
            jobs.cancel(session, job_id)
            assert 1 == forget(session, -1.0)

        assert [] == list(stream)


def test_a_stream_with_nothing_new_shows_that_it_lives_and_ends_in_time(
    watcher: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(events, "QUIET", 0.1)
    monkeypatch.setattr(events, "LONGEST", 0.5)
    with watching(watcher, submitted(watcher)) as stream:
        first, *later = stream

    assert "progress" == first["event"]
    assert [QUIET] * len(later) == later
    assert 1 <= len(later) <= 5


# --- who may watch ----------------------------------------------------------------------------


def test_who_finds_no_place_is_told_how_the_job_is_and_a_place_is_given_back(
    watcher: FlaskClient, store: Store
) -> None:
    job_id = submitted(watcher)
    with watching(watcher, job_id) as first:
        next(first)
        claim = claimed(store)
        assert "running" == job_of(next(first))["state"]  # so it has the place
        with watching(watcher, job_id) as second:
            assert ["progress"] == kinds(list(second))
    with watching(watcher, job_id) as third:
        next(third)
        with store.writing() as session:
            jobs.renew(session, claim, Progress(0.5, "grow", 7, 6), 60)
        assert 0.5 == job_of(next(third))["progress"]["fraction"]


def test_who_asks_for_the_headers_alone_takes_no_place(watcher: FlaskClient, store: Store) -> None:
    job_id = submitted(watcher)
    answer = watcher.head(f"/jobs/{job_id}/events")
    assert (200, b"") == (answer.status_code, answer.data)
    with watching(watcher, job_id) as stream:
        next(stream)
        claimed(store)
        assert "running" == job_of(next(stream))["state"]


@pytest.mark.parametrize(("threads", "asked", "places"), [(4, 2, 2), (4, 9, 3), (1, 2, 0)])
def test_a_thread_is_left_for_the_others(threads: int, asked: int, places: int) -> None:
    made = make_places(Settings(web_threads=threads, max_streams=asked))

    assert places == sum(made.take_for_stream() for _ in range(10))


# --- over real HTTP ---------------------------------------------------------------------------


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client of a running service that has trained the melons."""
    data = tmp_path_factory.mktemp("watched")
    with running(data, heartbeat_seconds="0.1") as client:
        ended(client, client.post("/train", json=an_order()).json())
        yield client


def ordered(service: httpx.Client, n_rows: int) -> str:
    """The path of a job that takes a while: in noise there is much to choose from."""
    draw = Random(0)
    columns = {name: [draw.random() for _ in range(n_rows)] for name in "abcd"}
    order = {
        "model": "noise",
        "target": "y",
        "data": {"columns": columns | {"y": [draw.choice("pq") for _ in range(n_rows)]}},
        "params": {"preset": "auto", "seconds": 6},
    }
    return str(service.post("/train", json=order).json()["links"]["self"])


def test_progress_arrives_while_the_job_runs(service: httpx.Client) -> None:
    path = ordered(service, 1000)
    arrived: list[float] = []
    pieces: list[str] = []
    with service.stream("GET", f"{path}/events") as answer:
        for piece in answer.iter_text():
            arrived.append(time.monotonic())
            pieces.append(piece)
    told = [each for each in read("".join(pieces)) if "data" in each]
    states = [job_of(each) for each in told]
    fractions = [each["progress"]["fraction"] for each in states]
    again = service.get(f"{path}/events", headers={"Last-Event-ID": told[-1]["id"]})

    assert {"progress"} == set(kinds(told[:-1]))
    assert "ended" == told[-1]["event"]
    assert states[-1] == service.get(path).json()
    assert (1.0, 1000) == (fractions[-1], states[-1]["progress"]["rows"])
    assert sorted(fractions) == fractions
    assert len({each for each in fractions if 0 < each < 1}) >= 2
    assert arrived[-1] - arrived[0] >= 1
    assert 204 == again.status_code


def test_watchers_keep_nobody_waiting_and_give_their_places_back_when_they_leave(
    service: httpx.Client,
) -> None:
    busy = ordered(service, 5000)  # so that the next one waits, and nothing changes
    waits = service.post("/train", json=an_order()).json()["links"]["self"]
    with watched(service, waits) as first, watched(service, waits) as second:
        assert is_held(first)
        assert is_held(second)
        for _ in range(3):
            with watched(service, waits) as other:
                assert not is_held(other)
        started = time.monotonic()
        for _ in range(20):
            service.get("/livez").raise_for_status()
            service.post("/predict", json={"model": "melons", "rows": [{}]}).raise_for_status()
        assert time.monotonic() - started < 5
    time.sleep(0.2)
    with watched(service, waits) as first, watched(service, waits) as second:
        assert is_held(first)
        assert is_held(second)
    for path in (waits, busy):
        service.post(f"{path}/cancel").raise_for_status()


@contextmanager
def watched(service: httpx.Client, path: str) -> Iterator[socket]:
    """A connection on which the events of a job were asked for."""
    address = (service.base_url.host, service.base_url.port)
    with create_connection(address, timeout=0.7) as connection:
        asked = f"GET {path}/events HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        connection.sendall(asked.encode())
        yield connection


def is_held(watcher: socket) -> bool:
    """Whether it is told how the job is, and then kept waiting."""
    told, piece = b"", b"something"
    with suppress(TimeoutError):
        while piece := watcher.recv(65536):
            told += piece
    assert b"event: progress" in told
    return piece != b""
