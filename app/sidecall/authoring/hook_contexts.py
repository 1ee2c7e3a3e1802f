"""Give functions around a tool a context of the type that they, or the tool, declare."""

import functools
import inspect
import typing
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from sidecall.compiler.injection_plan import match_type
from sidecall.compiler.signature import is_resolved, read_signature
from sidecall.kernel.core.context import RunContextWrapper, ToolContext
from sidecall.kernel.core.errors import SchemaInferenceError
from sidecall.kernel.core.guardrails import Guardrail
from sidecall.kernel.core.typed_context import ReadContext, names_context, open_context, plan_reading

G = TypeVar("G", bound=Guardrail[Any])


def find_context_type(function: Callable[..., Any]) -> Any:
    """Return the context type that the first parameter declares, if any."""
    plain = function if inspect.isroutine(function) else type(function).__call__
    try:
        first = next(iter(inspect.signature(function).parameters))
        annotation = typing.get_type_hints(plain).get(first)
    except (NameError, TypeError, ValueError, StopIteration):
        return None
    return annotation if _is_context(annotation) else None


def plan_own_reading(function: Callable[..., Any]) -> ReadContext | None:
    """Plan how the context is read for a tool's function; None without a usable type."""
    if _names_plain_types(function):
        return None  # As most, whose signature needs no reading for that.
    try:
        annotations = [it.annotation for it in read_signature(function).parameters if _is_context(it.annotation)]
        return plan_reading(annotations[0]) if annotations else None
    except (NameError, ValueError, SchemaInferenceError):
        return None  # What cannot be is refused where the tool is compiled.


def _names_plain_types(function: Any) -> bool:
    """Return whether all parameters are said to be of types that are no contexts, by the function itself."""
    if not inspect.isfunction(function) or hasattr(function, "__wrapped__") or hasattr(function, "__signature__"):
        return False
    code, said = function.__code__, {name: it for name, it in function.__annotations__.items() if name != "return"}
    count = code.co_argcount + code.co_kwonlyargcount
    is_open = code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS)
    return not is_open and len(said) == count and all(is_resolved(it) and not _is_context(it) for it in said.values())


def give_context(hook: Any, own: ReadContext | None) -> Any:
    """Wrap a hook so that its ToolContext has its declared context type, or else the tool's.

    Raises:
        SchemaInferenceError: The context that it wants can never be sent.
    """
    if not callable(hook):
        return hook
    read = choose_reading(hook, own)

    @functools.wraps(hook)
    def call(context: ToolContext, *rest: Any) -> Any:
        return hook(context.with_context(read(context)), *rest)

    return call


def choose_reading(hook: Callable[..., Any], own: ReadContext | None) -> ReadContext:
    """Choose how the context is read for a function; without a declared type its keys are attributes too.

    Raises:
        SchemaInferenceError: The context that it wants can never be sent.
    """
    annotation = find_context_type(hook)
    said = plan_reading(annotation) if names_context(annotation) else None
    return said or own or open_context


def give_guardrail_context(guardrail: G, own: ReadContext | None) -> G:
    """Wrap a guardrail so that its context has the tool's declared type."""
    judge, read = guardrail.guardrail_function, own or open_context

    def look(judged: Any) -> Any:
        return judge(replace(judged, context=judged.context.with_context(read(judged.context))))

    return replace(guardrail, guardrail_function=look)


def _is_context(annotation: Any) -> bool:
    kind = typing.get_origin(annotation) or annotation
    is_ours = isinstance(kind, type) and issubclass(kind, RunContextWrapper)
    return is_ours or match_type(kind) == "tool_context"
