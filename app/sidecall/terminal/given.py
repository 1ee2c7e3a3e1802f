"""The inputs of a command: the settings, and the tools that they name."""

from typing import Any

from sidecall.kernel.registry import Registry
from sidecall.loading.discovery import discover
from sidecall.loading.skipped_tools.find import TakeOmission
from sidecall.settings import Settings


def read_settings(**given: Any) -> Settings:
    """Read the settings; non-empty command line options override the environment."""
    for name in ("tools", "toolkits"):
        given[name] = tuple(value for value in given.get(name) or () if value)
    return Settings(**{name: value for name, value in given.items() if value not in (None, "", ())})


def load_registry(settings: Settings, tell: TakeOmission | None = None) -> Registry:
    """Load the tools of the settings; `tell` gets warnings about what is not offered."""
    registry = Registry(discover(settings.places, use_entry_points=settings.entry_points, tell=tell))
    registry.is_discovered = True
    return registry


def write_count(number: int, noun: str) -> str:
    """Format a count with its noun, such as `1 tool` and `2 tools`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
