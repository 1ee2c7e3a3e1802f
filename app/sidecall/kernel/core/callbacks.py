"""Hooks around tools, and callback handlers as in LangChain."""

import inspect
import logging
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from sidecall.kernel.core.errors import InvalidToolOption

EVENTS = ("on_tool_start", "on_tool_end", "on_tool_error")


class BaseCallbackHandler:
    """Write a callback handler: define the methods you need, sync or async.

    Any object with one of these methods is one, LangChain's own handlers included. Each is given those of the keyword
    arguments that it takes: `run_id` (the invocation's), `parent_run_id` (None), `tags`, `metadata`, `name`,
    `tool_call_id`, and `inputs` at the start. What is hidden from the model is hidden from handlers too.
    """

    # LangChain asks this of handlers that a tool hands on to its runnables; they hear of tools and texts only.
    raise_error = run_inline = ignore_agent = False
    ignore_llm = ignore_chat_model = ignore_chain = ignore_retriever = ignore_retry = ignore_custom_event = True

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, **kwargs: Any) -> Any:
        """Handle the start of a tool: its name and description, and the arguments as text."""

    def on_tool_end(self, output: Any, *, run_id: UUID, **kwargs: Any) -> Any:
        """Handle the ToolMessage of a call that ran to its end."""

    def on_tool_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> Any:
        """Handle a failure: the exception that the tool raised, or the one that kept it from running."""


class AsyncCallbackHandler(BaseCallbackHandler):
    """Write a callback handler whose methods are async; it is called like any other."""


class CallWriter(BaseCallbackHandler):
    """Log the start, end and error of each call, for tools with `verbose=True`."""

    def on_tool_start(self, serialized: dict[str, Any], input_str: str, *, run_id: UUID, **_: Any) -> None:
        """Log the arguments."""
        logger.info("[%s %s] is called with %s", serialized["name"], run_id, input_str)

    def on_tool_end(self, output: Any, *, run_id: UUID, **_: Any) -> None:
        """Log the answer."""
        logger.info("[%s %s] answers %s", output.name, run_id, output.content)


logger = logging.getLogger("sidecall.tool")


@dataclass(frozen=True, slots=True)
class Hook:
    """A function that an author puts around a tool, called with the keyword arguments that it accepts.

    `accepted` names these, None means any. `hanging` holds the threads of its calls that did not finish in time.
    """

    function: Callable[..., Any]
    is_async: bool
    accepted: frozenset[str] | None
    hanging: list[threading.Thread] = field(default_factory=list, compare=False)

    def pick(self, details: Mapping[str, Any]) -> dict[str, Any]:
        """Select the details that the function accepts."""
        if self.accepted is None:
            return dict(details)
        return {name: value for name, value in details.items() if name in self.accepted}


@dataclass(frozen=True, slots=True)
class Callback:
    """A compiled handler: its methods by event name, and the object itself."""

    methods: Mapping[str, Hook]
    handler: Any = field(default=None, compare=False)


def make_callback(handler: Any) -> Callback:
    """Inspect a handler once.

    Raises:
        InvalidToolOption: It has none of the methods.
    """
    if isinstance(handler, type):
        raise InvalidToolOption(f"a callback handler is an object; make one: {handler.__name__}()")
    found = {event: getattr(handler, event, None) for event in EVENTS}
    methods = {event: read_hook(method) for event, method in found.items() if callable(method)}
    if not methods:
        raise InvalidToolOption(f"a callback handler has one of {', '.join(EVENTS)}; {type(handler).__name__} has none")
    # LangChain's handlers turn the events of tools off with this.
    return Callback({} if getattr(handler, "ignore_agent", False) is True else methods, handler)


def read_hook(function: Callable[..., Any]) -> Hook:
    """Inspect a function once."""
    parameters = inspect.signature(function).parameters.values()
    takes_all = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters)
    names = frozenset(parameter.name for parameter in parameters)
    return Hook(function, inspect.iscoroutinefunction(function), None if takes_all else names)
