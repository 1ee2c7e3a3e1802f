"""What a reader says of a framework's tool."""

import copy
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sidecall.compat.foreign.frameworks.media import find_medium_reader, write_text
from sidecall.compiler.signature import unwrap
from sidecall.kernel.core.command import Command
from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.messages import BlockList, ContentBlock, ToolMessage
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.to_json import to_text

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


def read_value(value: Any) -> Any:
    """Return what a tool has returned, with media of its framework as blocks.

    One medium, or a list with any, becomes blocks; other items of the list become texts. A single text is a text.
    """
    items = list(value) if isinstance(value, list | tuple) else [value]
    readers = [find_medium_reader(it) for it in items]
    if not any(readers):
        return value
    blocks = [_write_plain(it) if read is None else read(it) for it, read in zip(items, readers, strict=True)]
    return blocks[0]["text"] if len(blocks) == 1 and blocks[0]["type"] == "text" else BlockList(blocks)


def _write_plain(item: Any) -> ContentBlock:
    return write_text(item if isinstance(item, str) else to_text(item))


def with_artifact(content: Any, artifact: Any) -> Any:
    """Return content together with what only the program gets, where JSON can say that."""
    if artifact is None:
        return content
    try:
        to_text(artifact)
    except ValueError:
        return content
    return _write_message(content, artifact=artifact)


def _write_message(content: Any, **fields: Any) -> ToolMessage:
    message = ToolMessage(content=content, **fields)
    if type(content) is BlockList:  # Which a message copies as an ordinary list.
        message.content = content
    return message


class CallState:
    """A copy of the caller's state for one call: what the tool changes in it goes back as an update."""

    def __init__(self, context: ToolContext) -> None:
        """Copy the state that the caller has sent, if it is an object."""
        sent = context.state if isinstance(context.state, Mapping) else {}
        self._before = {str(key): value for key, value in sent.items()}
        self.values: dict[str, Any] = copy.deepcopy(self._before)

    def add_update(self, content: Any, after: Mapping[str, Any] | None = None) -> Any:
        """Return content with what has changed, if anything has; `after` is the new state."""
        now = self.values if after is None else after
        update = {key: value for key, value in now.items() if key not in self._before or self._before[key] != value}
        if not update:
            return content
        message = content if isinstance(content, ToolMessage) else _write_message(content)
        return Command(update={**update, "messages": [message]})
