"""The command line."""

from service.cli.commands import main
from service.cli.processes import GUNICORN, SET_DEATH_SIGNAL, WORKER

__all__ = ["GUNICORN", "SET_DEATH_SIGNAL", "WORKER", "main"]
