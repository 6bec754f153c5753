"""How gunicorn runs the web application, set up by the environment."""

import os
from typing import Any

from service.logs import logging_config
from service.settings import read_settings
from service.web.context import IS_LEAVING

_settings = read_settings(os.environ)

wsgi_app = "service.wsgi:app"
bind = [_settings.address]
workers = _settings.web_workers
worker_class = "gthread"
threads = _settings.web_threads
timeout = 120
graceful_timeout = 30
preload_app = False  # each worker opens its own connections, and a reload brings new code
control_socket_disable = True  # it lies in the home directory, where two services would meet
accesslog = None  # web logs each request itself
logconfig_dict = logging_config(_settings.log_level)
# gunicorn gives its logger a handler of its own first; naming the logger here replaces it.
logconfig_dict["loggers"]["gunicorn.error"] = {"handlers": ["stderr"], "propagate": False}


def post_worker_init(worker: Any) -> None:
    """Tells the app when it is to end, so that streams do not hold it up."""
    worker.wsgi.config[IS_LEAVING] = lambda: not worker.alive
