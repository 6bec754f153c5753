"""HTTP in, JSON out: what a request says is read here, and what an error means is decided here."""

from service.web.app import create_app
from service.web.openapi import openapi_yaml

__all__ = ["create_app", "openapi_yaml"]
