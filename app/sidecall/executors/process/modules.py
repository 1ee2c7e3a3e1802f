"""Find the tools of modules by what they hold, where no server has a wider search to hand on."""

import importlib
import inspect
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any

from sidecall.core.errors import DiscoveryError
from sidecall.core.tool import CompiledTool
from sidecall.loading import load_file


def discover_in_modules(places: Iterable[str], *, use_entry_points: bool = False) -> list[CompiledTool]:  # noqa: ARG001
    """Load modules, and list the tools that they hold, and those of toolkits that they hold.

    A place is the path of a file, or the dotted name of a module.

    Raises:
        DefinitionError: A module cannot be loaded, or one of its tools is wrong.
    """
    held = [item for place in places for item in vars(_load(place)).values() if not inspect.isclass(item)]
    return [*_compile(held), *(tool for item in held for tool in _compile(_make_tools(item)))]


def _load(place: str) -> ModuleType:
    if place.endswith(".py"):
        return load_file(Path(place))
    try:
        return importlib.import_module(place)
    except (Exception, SystemExit) as error:
        raise DiscoveryError(f"{place} cannot be loaded: {type(error).__name__}: {error}") from error


def _compile(items: Iterable[Any]) -> Iterator[CompiledTool]:
    # Looked up in the class, since some objects claim to have any attribute.
    compiled = [item.compiled for item in items if hasattr(type(item), "compiled")]
    return (tool for tool in compiled if isinstance(tool, CompiledTool))


def _make_tools(item: Any) -> list[Any]:
    if hasattr(type(item), "get_tools") and not inspect.iscoroutinefunction(item.get_tools):
        with suppress(Exception):  # It is no toolkit then, or none that can be used.
            return list(item.get_tools())
    return []
