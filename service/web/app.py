"""The app: blueprints, errors and request ids around one store."""

import logging

from flask import Flask

from service.actions.keep_warm import Warmth
from service.actions.memory import Memory
from service.settings import Settings
from service.storage.engine import Store
from service.tree.native import find_natives
from service.web import aliases, batch, datasets, evaluate, jobs, models, operations, predict, train
from service.web.bodies import speak_json
from service.web.context import EXTENSION, IS_LEAVING, Context
from service.web.docs import serve_docs
from service.web.lane import open_lane
from service.web.openapi import create_api
from service.web.places import make_places
from service.web.problems import handle_errors
from service.web.requests import watch_requests

log = logging.getLogger(__name__)

BLUEPRINTS = (
    train.blp,
    jobs.blp,
    datasets.blp,
    batch.blp,
    predict.blp,
    models.blp,
    evaluate.blp,
    aliases.blp,
    operations.blp,
)


def create_app(settings: Settings, store: Store) -> Flask:
    """The app that serves this store; the database is not touched before a request."""
    app = Flask("service.web", static_folder=None)
    app.url_map.merge_slashes = False  # //models is nothing, not a redirect
    natives = find_natives(settings.kernel_root)
    if natives is None:
        log.warning("no native code, so numpy answers; `bough warm` makes it")
    memory = Memory(store, settings.cache_bytes, natives=natives)
    warmth = Warmth(store, memory, settings.warm_seconds)
    app.extensions[EXTENSION] = Context(settings, store, memory, make_places(settings), warmth)
    app.config[IS_LEAVING] = lambda: False  # the server that runs it may know better
    speak_json(app)
    handle_errors(app)
    watch_requests(app)
    api = create_api(app)
    for blueprint in BLUEPRINTS:
        api.register_blueprint(blueprint)
    serve_docs(app)
    open_lane(app)
    return app
