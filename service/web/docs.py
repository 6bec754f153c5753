"""/openapi.yaml, and /docs: Swagger UI from files that came with the service."""

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from flask import Blueprint, Flask, Response, send_from_directory

from service.errors import NotFound
from service.web.openapi import openapi_yaml
from service.web.problems import NOTHING_HERE

PAGES = Path(__file__).parent / "pages"
OURS = frozenset({"start.js"})
SWAGGERS = frozenset({"swagger-ui.css", "swagger-ui-bundle.js", "favicon-32x32.png"})
# Nothing may come from or go to anywhere else; data: is for the icons within the style sheet.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def serve_docs(app: Flask) -> None:
    """Add the contract and its pages to an app, whose views are all there already."""
    blueprint = Blueprint("docs", __name__)
    contract = cache(lambda: openapi_yaml(app))  # takes a while, and never changes

    @blueprint.get("/openapi.yaml")
    def openapi() -> Response:
        return Response(contract(), mimetype="application/yaml")

    blueprint.add_url_rule("/docs", view_func=_page)
    blueprint.add_url_rule("/docs/<file>", view_func=_file)
    app.register_blueprint(blueprint)


def _page() -> Response:
    response = send_from_directory(PAGES, "docs.html")
    response.headers["Content-Security-Policy"] = POLICY
    response.headers["Referrer-Policy"] = "no-referrer"
    return response


def _file(file: str) -> Response:
    if file not in OURS | SWAGGERS:
        raise NotFound(NOTHING_HERE)
    return send_from_directory(PAGES if file in OURS else _swagger(), file)


@cache
def _swagger() -> Path:
    # Found and not imported: only its files are wanted, not its blueprint.
    spec = find_spec("flask_swagger_ui")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("flask_swagger_ui is not installed")
    return Path(spec.origin).parent / "dist"
