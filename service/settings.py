"""The settings: one frozen record, read once from the environment.

Each is the variable BOUGH_<NAME> in capitals; docs/operations.md has a line for each of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from service.tree.sources import ROOT

PREFIX = "BOUGH_"


@dataclass(frozen=True)
class Settings:
    """How this process is to behave."""

    data: Path = Path("data")  # where the embedded database lives
    database_url: str = ""  # empty: SQLite in `data`
    host: str = "127.0.0.1"
    port: int = 8000
    web_workers: int = 1
    web_threads: int = 4
    max_body_bytes: int = 64 * 1024 * 1024
    read_seconds: float = 20.0  # a body whose next bytes take longer is given up
    max_train_cells: int = 5_000_000  # rows x columns of inline data
    max_predict_rows: int = 100_000
    max_answer_cells: int = 2_000_000  # rows x classes of one answer in JSON
    bulk_seconds: float = 3600.0  # that one request of rows in bulk may take
    max_bulk_bytes: int = 4 * 1024**3  # of its body, unpacked; and of answers that are not read
    max_explain_rows: int = 100
    max_explain_paths: int = 1_000  # of one row; the heaviest are told
    max_nodes: int = 1_000_000
    datasets: str = ""  # directory or URI of an object store; empty: `datasets` in `data`
    max_dataset_bytes: int = 4 * 1024**3  # of one upload, also when it is unpacked
    max_dataset_cells: int = 200_000_000  # rows x columns of one dataset
    max_dataset_columns: int = 2_000
    ingest_seconds: float = 600.0  # that the reading of an upload may take
    ingest_memory_bytes: int = 2 * 1024**3  # likewise
    max_streams: int = 2  # event streams of a web process at a time; others get one event each
    cache_bytes: int = 256 * 1024 * 1024  # compiled trees kept by a web process
    warm_seconds: float = 60.0  # that /readyz waits for the models marked warm; 0: not at all
    kernel_cache: str = ""  # directory of compiled kernels; empty: in the Python environment
    lease_seconds: float = 30.0
    heartbeat_seconds: float = 2.0
    poll_seconds: float = 0.5
    max_attempts: int = 3
    job_seconds: float = 3600.0  # that a training may take; 0: any
    job_memory_bytes: int = 0  # that a training may take; 0: any
    keep_jobs_seconds: float = 30 * 24 * 3600.0  # after their end; 0: for ever
    webhook_private: bool = False  # whether webhooks may lead to private addresses
    log_level: str = "INFO"

    @property
    def url(self) -> str:
        """The database to use: the one that was named, or SQLite in the data directory."""
        return self.database_url or f"sqlite:///{self.data / 'bough.db'}"

    @property
    def datasets_uri(self) -> str:
        """Where datasets are kept: the place that was named, or a part of the data directory."""
        return self.datasets or str((self.data / "datasets").absolute())

    @property
    def kernel_root(self) -> Path:
        """Where compiled kernels are kept: the place that was named, or the Python environment."""
        return Path(self.kernel_cache).absolute() if self.kernel_cache else ROOT

    @property
    def kernel_variables(self) -> dict[str, str]:
        """What a process must find in its environment to keep its kernels in the right place."""
        return {"NUMBA_CACHE_DIR": str(self.kernel_root)}

    @property
    def address(self) -> str:
        """Host and port as a URL writes them; an IPv6 address stands in brackets."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"


def read_settings(environment: Mapping[str, str]) -> Settings:
    """The settings that this environment asks for; what it does not name has its default."""
    given = {
        field.name: _parse(
            field.name, type(field.default), environment[PREFIX + field.name.upper()]
        )
        for field in fields(Settings)
        if PREFIX + field.name.upper() in environment
    }
    return Settings(**given)


def _parse(name: str, kind: type, text: str) -> Any:
    try:
        return _truth(text) if kind is bool else kind(text)
    except ValueError:
        raise ValueError(
            f"{PREFIX}{name.upper()} is {text!r}, which is no {kind.__name__}"
        ) from None


def _truth(text: str) -> bool:
    if text not in ("true", "false"):
        raise ValueError(text)
    return text == "true"
