"""Load a module on first use: for large ones that few servers need, and for those that a layer above provides."""

import sys
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
            self._module = self._load()
        return getattr(self._module, name)

    def _load(self) -> Any:
        return import_module(self._name)


def load_function(place: str) -> Any:
    """Import what is named as `package.module:name`, a function or a class."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def later(place: str) -> Any:
    """Stand in for a function, given as `package.module:function`, until it is first called."""
    return lambda *args, **options: load_function(place)(*args, **options)


def find_provider(purpose: str) -> str:
    """Return the name of the module that serves a purpose, as `sidecall/__init__` has it, which is loaded first."""
    name: str = vars(sys.modules[__package__])["_PROVIDERS"][purpose]
    return name


class Provided(Later):
    """Stands in for the module that serves a purpose.

    Where that is not installed, `otherwise` takes its place; without one, the first use raises ModuleNotFoundError.
    """

    def __init__(self, purpose: str, otherwise: object = None) -> None:
        super().__init__(purpose)
        self._otherwise = otherwise

    def _load(self) -> Any:
        name = find_provider(self._name)
        try:
            return import_module(name)
        except ModuleNotFoundError as error:
            if self._otherwise is None or not f"{name}.".startswith(f"{error.name}."):
                raise
            return self._otherwise
