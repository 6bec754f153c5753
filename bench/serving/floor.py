"""The floor: Flask reads the body with orjson and writes an answer that it has already.

Its answers are those that ours gave to the same rows, one for each cell.
"""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
from flask import Flask, Response, request

DIRECTORY = "BENCH_DIRECTORY"
ANSWER = "answer.json"


def answering(answer: Any) -> Callable[[], Response]:
    """What reads a body and writes the answer."""

    def view() -> Response:
        orjson.loads(request.get_data())
        return Response(orjson.dumps(answer), mimetype="application/json")

    return view


def create_app() -> Flask:
    """The application, with an address for each answer there is."""
    app = Flask(__name__)
    for file in Path(os.environ[DIRECTORY]).glob(f"*/{ANSWER}"):
        cell = file.parent.name
        view = answering(orjson.loads(file.read_bytes()))
        app.add_url_rule(f"/{cell}", cell, view, methods=["POST"])
    return app
