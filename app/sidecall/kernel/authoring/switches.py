"""Switches: decide by the caller and the context whether a tool is offered."""

import inspect
from collections.abc import Callable
from typing import Any, Generic

from sidecall.compat.hook_contexts import choose_reading, find_context_type
from sidecall.kernel.core.context import Context
from sidecall.kernel.core.options import Condition
from sidecall.kernel.core.typed_context import ReadContext


class AgentBase(Generic[Context]):
    """Placeholder in annotations for an agent of the OpenAI Agents SDK; no agent runs here, so the value is None."""

    name: str


def make_switch(given: bool | Callable[..., Any], own: ReadContext | None = None) -> Condition:
    """Wrap a switch, in either of its two forms, as a function of the ToolContext.

    Args:
        given: A function of the Caller, or, as in the OpenAI Agents SDK, of the context and an agent.
        own: How the tool's own function has the context read.

    Raises:
        SchemaInferenceError: The context that it wants can never be sent.
    """
    if isinstance(given, bool):
        return given
    annotation = find_context_type(given)
    agent = (None,) if _takes_agent(given, annotation) else ()
    if annotation is None and not agent:
        return lambda context: given(context.caller)
    read = choose_reading(given, own)
    return lambda context: given(context.with_context(read(context)), *agent)


def _takes_agent(function: Callable[..., Any], annotation: Any) -> bool:
    """Return whether a function takes (context, agent).

    A function that may also be called with one argument counts only if its first parameter is declared as a context.
    """
    return takes(function, 2) and (annotation is not None or not takes(function, 1))


def takes(function: Callable[..., Any], count: int) -> bool:
    """Return whether a function can be called with this many positional arguments."""
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    except ValueError:  # Some functions written in C do not say what they take.
        return True
    return True
