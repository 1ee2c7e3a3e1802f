"""What is empty is not set, wherever it comes from: compose files and scripts pass on what nobody has set."""

import pytest

from sidecall.settings import Settings
from sidecall.terminal.options import read_settings
from tests.settings.test_settings_defaults import DEFAULTS


@pytest.mark.parametrize("name", Settings.model_fields)
def test_an_empty_variable_is_not_set(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """An empty host would be every interface, and empty tools none."""
    monkeypatch.setenv(f"SIDECALL_{name.upper()}", "")

    assert Settings().model_dump() == DEFAULTS


def test_an_empty_word_on_the_command_line_is_not_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """`--host "$HOST"` listens where it would without it."""
    monkeypatch.setenv("SIDECALL_PORT", "80")

    settings = read_settings(host="", port=None, tools=[""], workers=None, reload=None)

    assert (settings.host, settings.port, settings.tools) == ("127.0.0.1", 80, ("tools",))


def test_what_is_not_empty_on_the_command_line_is_given() -> None:
    """Zero is something."""
    settings = read_settings(host="::1", port=0, tools=["", "mine.py"])

    assert (settings.host, settings.port, settings.tools) == ("::1", 0, ("mine.py",))
