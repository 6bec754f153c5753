"""The command line."""

from service.cli.commands import main
from service.cli.processes import GUNICORN, WORKER

__all__ = ["GUNICORN", "WORKER", "main"]
