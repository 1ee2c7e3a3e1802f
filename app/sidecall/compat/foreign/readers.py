"""Find the reader of an object of an agent framework, by its class and without importing the framework."""

import sys
from collections.abc import Mapping
from types import FunctionType, ModuleType
from typing import Any

from msgspec import Struct

from sidecall.compat.foreign.frameworks.reader import Reader
from sidecall.compat.foreign.libraries import find_library
from sidecall.lazy_imports import Later

_MODULES: Mapping[str, Any] = {
    name: Later(f"sidecall.compat.foreign.frameworks.{name}")
    for name in (
        "agno",
        "google_adk",
        "haystack",
        "llama_index",
        "microsoft",
        "other_frameworks",
        "semantic_kernel",
        "strands",
    )
}
_MARKING = ("semantic_kernel.functions", "semantic_kernel.READER")


class Known(Struct, frozen=True):
    """An object of a framework, with its reader; a group holds tools, and a module may itself be one."""

    reader: Reader
    is_group: bool
    is_module: bool = False


def find_reader(thing: Any) -> Known | None:
    """Return the reader of a tool or group of tools; None for classes and all other objects."""
    if isinstance(thing, type):
        return None
    if isinstance(thing, ModuleType):
        return _find_module(thing)
    found = None if isinstance(thing, FunctionType) else find_library(thing)
    if found is not None:
        return Known(_get(found[1].reader), found[1].kind == "group") if found[1].reader else None
    module, reader = _MARKING
    if module not in sys.modules:
        return None
    marks = _MODULES["semantic_kernel"]
    if marks.is_marked(thing):
        return Known(_get(reader), is_group=False)
    return Known(_get(reader), is_group=True) if marks.list_marked(type(thing)) else None


def _find_module(module: ModuleType) -> Known | None:
    """Return the reader of a module that is a tool of Strands, or has some."""
    if "TOOL_SPEC" not in vars(module) and "strands" not in sys.modules:
        return None
    modules = _MODULES["strands"]
    is_tool = modules.is_module_tool(module)
    if modules.find_missing(module) is not None or not (is_tool or modules.list_own(module)):
        return None
    return Known(modules.MODULE_READER, is_group=True, is_module=is_tool)


def explain_module(module: ModuleType, it: str) -> str | None:
    """Explain why a module that is a tool of Strands is not offered where it was imported; None for other modules."""
    if "TOOL_SPEC" not in vars(module):
        return None
    modules = _MODULES["strands"]
    if not modules.is_module_tool(module):
        return None
    missing: str | None = modules.find_missing(module)
    return missing or f"it is a module, which is a tool of Strands; write tools = [{it}]"


def find_obstacle(thing: Any, known: Known) -> str | None:
    """Return why a tool with a reader cannot be taken, or None."""
    try:
        return known.reader.find_obstacle(thing)
    except Exception:  # It is not as it is in the releases that are known here; what reads it says so.
        return None


def _get(name: str) -> Reader:
    module, _, reader = name.partition(".")
    found: Reader = getattr(_MODULES[module], reader)
    return found
