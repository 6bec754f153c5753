"""The settings: read once, each documented."""

from dataclasses import fields
from pathlib import Path

import pytest

from service.settings import PREFIX, Settings, read_settings

OPERATIONS = Path(__file__).parent.parent / "docs" / "operations.md"


def test_without_an_environment_the_defaults_hold() -> None:
    settings = read_settings({})

    assert settings == Settings()
    assert settings.url == "sqlite:///data/bough.db"


def test_the_environment_says_otherwise() -> None:
    settings = read_settings({"BOUGH_PORT": "9", "BOUGH_DATA": "/x", "BOUGH_LEASE_SECONDS": "1.5"})

    assert (settings.port, settings.data, settings.lease_seconds) == (9, Path("/x"), 1.5)


def test_a_switch_is_true_or_false() -> None:
    assert read_settings({"BOUGH_WEBHOOK_PRIVATE": "true"}).webhook_private
    assert not read_settings({"BOUGH_WEBHOOK_PRIVATE": "false"}).webhook_private
    with pytest.raises(ValueError, match="BOUGH_WEBHOOK_PRIVATE is 'yes', which is no bool"):
        read_settings({"BOUGH_WEBHOOK_PRIVATE": "yes"})


def test_what_is_no_number_is_named() -> None:
    with pytest.raises(ValueError, match="BOUGH_PORT is 'http'"):
        read_settings({"BOUGH_PORT": "http"})


@pytest.mark.parametrize("field", fields(Settings), ids=lambda field: field.name)
def test_every_setting_has_a_line_in_the_documentation(field) -> None:
    assert f"`{PREFIX}{field.name.upper()}`" in OPERATIONS.read_text(encoding="utf-8")
