"""Read modules that are tools of Strands: `TOOL_SPEC` says what they take, and a function of their name runs calls."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

from sidecall.compat.foreign.frameworks.make import make_tool
from sidecall.compat.foreign.frameworks.reader import Reader, Source
from sidecall.compat.foreign.frameworks.strands import describe

_PACKAGE = "strands"
_TOOL = "AgentTool"


@dataclass(frozen=True, slots=True)
class ModuleTool:
    """The tool that a module is, in the shape of Strands' own classes."""

    tool_name: str
    tool_spec: Mapping[str, Any]
    _tool_func: Callable[..., Any]

    async def stream(self, tool_use: Mapping[str, Any], invocation_state: Mapping[str, Any]) -> AsyncIterator[Any]:
        """Yield the result of a call."""
        if inspect.iscoroutinefunction(self._tool_func):
            yield await self._tool_func(tool_use, **invocation_state)
        else:
            yield await asyncio.to_thread(self._tool_func, tool_use, **invocation_state)


def is_module_tool(module: ModuleType) -> bool:
    """Return whether a module describes itself as a tool; with tools of its own, Strands takes those alone."""
    return _read_spec(module) is not None and not list_own(module)


def list_own(module: ModuleType) -> list[Any]:
    """List the decorated tools of a module."""
    return [it for it in vars(module).values() if _is_strands(it)]


def find_missing(module: ModuleType) -> str | None:
    """Return what a module lacks to be a tool, in words; None if nothing."""
    if not is_module_tool(module) or _find_function(module) is not None:
        return None
    return f"its TOOL_SPEC has no function; write `def {_find_name(module)}(tool, **kwargs)` in it"


def list_tools(module: ModuleType) -> Iterable[Any]:
    """List the tools of a module: its decorated ones, else the one that it is."""
    return list_own(module) or [make_tool(describe_module(module), None, {})]


def describe_module(module: ModuleType) -> Source:
    """Describe the tool that a module is."""
    spec, function = _read_spec(module), _find_function(module)
    assert spec is not None
    assert function is not None
    return describe(ModuleTool(_find_name(module), spec, function))


def _read_spec(module: ModuleType) -> Mapping[str, Any] | None:
    spec = vars(module).get("TOOL_SPEC")
    return spec if isinstance(spec, Mapping) and {"name", "inputSchema"} <= spec.keys() else None


def _find_name(module: ModuleType) -> str:
    spec = _read_spec(module) or {}
    return (
        str(spec["name"]) if isinstance(vars(module).get(str(spec.get("name"))), FunctionType) else _find_stem(module)
    )


def _find_stem(module: ModuleType) -> str:
    return Path(module.__file__).stem if module.__file__ else module.__name__.rpartition(".")[2]


def _find_function(module: ModuleType) -> Callable[..., Any] | None:
    found = vars(module).get(_find_name(module))
    return found if callable(found) else None


def _is_strands(thing: Any) -> bool:
    kinds = type(thing).__mro__
    return any(it.__name__ == _TOOL and it.__module__.partition(".")[0] == _PACKAGE for it in kinds)


READER = Reader(describe_module, list_tools)
