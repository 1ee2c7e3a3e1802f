"""Load a module on first use: for large ones that few servers need."""

from importlib import import_module
from typing import Any


class Later:
    """Stands in for a module until its first use, then forwards to it."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
