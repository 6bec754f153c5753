"""Bough: trains, keeps, serves and explains decision trees over HTTP."""

__version__ = "0.1.0"
