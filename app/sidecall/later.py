"""Load a module on first use: for large ones that few servers need."""

from importlib import import_module
from types import ModuleType
from typing import Any


class Later:
    """Stands in for a module until its first use, then forwards to it."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._module: ModuleType | None = None

    def __getattr__(self, name: str) -> Any:
        if self._module is None:  # Else to ask for the import each time would take longer than the rest.
            self._module = import_module(self._name)
        return getattr(self._module, name)
