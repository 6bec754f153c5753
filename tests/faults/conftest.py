"""One running service on each engine, which the tests of this directory hit again and again."""

from collections.abc import Iterator

import pytest

from tests.conftest import migrate
from tests.faults.system import WEB_AND_THREE, System, running
from tests.postgres import started_own


@pytest.fixture(scope="package", params=["sqlite", "postgresql"])
def system(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[System]:
    """Web and three workers, which are started again when they are killed."""
    directory = tmp_path_factory.mktemp("system")
    if request.param == "sqlite":
        url = f"sqlite:///{directory / 'bough.db'}"
        migrate(url)
        with running(directory, url, WEB_AND_THREE) as system:
            yield system
        return
    with started_own(directory) as postgres:  # which may be stopped
        url = postgres.create("bough")
        migrate(url)
        with running(directory, url, WEB_AND_THREE, postgres) as system:
            yield system
