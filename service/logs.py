"""Logs: one JSON object a line on stderr, from the web and from the worker alike.

Of an exception only its type and where it arose are told: its text may hold values of the data.
"""

import json
import logging
import logging.config
import traceback
from datetime import UTC, datetime
from typing import Any

ORDINARY = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON, with everything that came in `extra`."""

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {key: value for key, value in vars(record).items() if key not in ORDINARY}
        if record.exc_info and record.exc_info[0]:
            line["exception"] = record.exc_info[0].__name__
            line["trace"] = [
                f"{frame.filename}:{frame.lineno} {frame.name}"
                for frame in traceback.extract_tb(record.exc_info[2])
            ]
        return json.dumps(line, ensure_ascii=False, default=str)


def logging_config(level: str) -> dict[str, Any]:
    """What `logging.config` is to do: everything from this level on goes to stderr as JSON."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"json": {"()": JsonFormatter}},
        "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"level": level.upper(), "handlers": ["stderr"]},
        # Told by our own lines already.
        "loggers": {"alembic": {"level": "WARNING"}},
    }


def configure_logging(level: str) -> None:
    """Make this process log from this level on."""
    logging.config.dictConfig(logging_config(level))
