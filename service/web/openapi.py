"""The contract: OpenAPI 3.1, made from the views and their schemas."""

from typing import Any

import flask_smorest
import orjson
import yaml
from flask import Flask

from service import __version__
from service.web import components
from service.web.problems import DESCRIPTIONS, MEDIA_TYPE
from service.web.schemas import ProblemSchema

SECTIONS = ("openapi", "info", "tags", "paths", "components")
ABOUT = """\
Trains, keeps, serves and explains decision trees.

Post a table to `/train`, wait for the job, post rows to `/predict` or `/explain`. A null is never
guessed: the row goes down every branch, carrying weight. `null` and an absent key are the same.

Every error is `application/problem+json` (RFC 9457); `errors` names each fault by a JSON pointer
into the body, or by the name of a parameter. `X-Request-ID` is taken from the request or made,
and stands on every answer and in the log.
"""


class Api(flask_smorest.Api):
    """flask-smorest without its own errors: ours are problems, and keep headers such as Allow."""

    DEFAULT_ERROR_RESPONSE_NAME = None

    def _register_error_handlers(self) -> None:
        """None: service.web.problems has them."""

    def _register_responses(self) -> None:
        for status, description in DESCRIPTIONS.items():
            content = {MEDIA_TYPE: {"schema": ProblemSchema}}
            response = {"description": description, "content": content}
            # Named here and not by http.HTTPStatus, whose names differ between Pythons.
            self.spec.components.response(f"Problem{status}", response, lazy=True)


def create_api(app: Flask) -> Api:
    """The API of an app, with the components that are written by hand."""
    app.config.update(API_TITLE="Bough", API_VERSION=__version__, OPENAPI_VERSION="3.1.0")
    licence = {"name": "Apache 2.0", "identifier": "Apache-2.0"}
    api = Api(app, spec_kwargs={"info": {"description": ABOUT, "license": licence}})
    for name, component in components.SCHEMAS.items():
        api.spec.components.schema(name, component)
    return api


def openapi_yaml(app: Flask) -> str:
    """The contract of an app as YAML, always in the same order."""
    api: Api = app.extensions["flask-smorest"]["apis"][""]["ext_obj"]
    # Through JSON and back: numbers as keys become text, and nothing is shared, so that YAML
    # needs no anchors.
    written = orjson.dumps(api.spec.to_dict(), option=orjson.OPT_NON_STR_KEYS)
    plain: dict[str, Any] = orjson.loads(written)
    text: str = yaml.dump(
        {name: plain[name] for name in SECTIONS},
        Dumper=Dumper,
        sort_keys=False,
        allow_unicode=True,
        width=100,
    )
    return text


class Dumper(yaml.SafeDumper):
    """YAML in which paragraphs are readable."""


def _write_text(dumper: Dumper, text: str) -> yaml.Node:
    style = "|" if "\n" in text else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style)


Dumper.add_representer(str, _write_text)
