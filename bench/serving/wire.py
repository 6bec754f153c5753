"""The wire alone: what reads an Arrow body, looks at nothing, and sends as much as ours answers.

Nobody who takes and gives Arrow under the same gunicorn can be faster.
"""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bench.serving.floor import DIRECTORY

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

ANSWER = "answer.arrow"


def create_app() -> "WSGIApplication":
    """The application, with an address for each answer there is."""
    files = Path(os.environ[DIRECTORY]).glob(f"*/{ANSWER}")
    answers = {f"/{file.parent.name}": file.read_bytes() for file in files}

    def app(environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
        answer = answers[environ["PATH_INFO"]]
        start_response("200 OK", [("Content-Length", str(len(answer)))])
        return [answer]

    return app
