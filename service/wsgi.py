"""The web application as gunicorn finds it, set up by the environment."""

import os

from service.logs import configure_logging
from service.settings import read_settings
from service.storage.engine import open_store
from service.web import create_app

settings = read_settings(os.environ)
configure_logging(settings.log_level)
app = create_app(settings, open_store(settings.url))
