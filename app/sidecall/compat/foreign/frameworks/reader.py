"""What a reader says of a framework's tool."""

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.schema.signature import unwrap

# Runs a call: gets the arguments, and the context of the call.
Run = Callable[[dict[str, Any], ToolContext], Any]


def _list_items(it: Any) -> Iterable[Any]:
    found: Iterable[Any] = it
    return found


def _find_none(it: Any) -> str | None:
    del it
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """A framework's tool, as its reader describes it.

    `schema` is the JSON Schema of the arguments. `written` is the author's function, or the tool itself: errors name
    its file. Where `is_blocking`, calls run in threads: with an event loop of their own if `run` is async. `options`
    are fields of BaseTool, `lost` what the server cannot honour.
    """

    name: str
    description: str
    schema: Schema
    run: Run
    written: Any
    is_blocking: bool
    options: Mapping[str, Any] = field(default_factory=dict)
    lost: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads the objects of one framework.

    `describe` describes a tool, `list_tools` lists those of a group, `find_obstacle` says why a tool cannot be taken.
    """

    describe: Callable[[Any], Source]
    list_tools: Callable[[Any], Iterable[Any]] = _list_items
    find_obstacle: Callable[[Any], str | None] = _find_none


def is_blocking(function: Any) -> bool:
    """Return whether a function runs to its end where it is called."""
    plain = unwrap(function) if callable(function) else function
    called = (plain, getattr(plain, "__call__", None))  # noqa: B004  an object may be called through an async method
    return not any(inspect.iscoroutinefunction(it) or inspect.isasyncgenfunction(it) for it in called)
