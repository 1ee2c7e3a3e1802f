"""Load a module when something of it is first asked for: for those that are large, and that few servers ever need."""

from importlib import import_module
from typing import Any


class Later:
    """Stands for a module until then, and gives what it has afterwards."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)
