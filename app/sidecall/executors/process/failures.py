"""Let what a tool raises in its process be raised in the server, as far as that can be said."""

import sys
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from sidecall.core.errors import InvalidArguments, SidecallError, ToolException, ToolFailure, ToolOutputError
from sidecall.core.jsonable import render_failure, replace_surrogates, to_plain
from sidecall.telemetry.text import MOST, join_traceback


class ToolCrashed(Exception):
    """The tool raised what is no ToolException, in its process; the traceback from there is a note.

    The text is that of its exception, and where the server knows the exception's class, this is an instance of that.
    """

    def __init__(self, text: str) -> None:
        self.args = (text,)

    def __str__(self) -> str:
        return str(self.args[0])


def failure_of(error: BaseException) -> dict[str, Any]:
    """Say what a tool raised; `is_worn` says that its process should serve no more."""
    if isinstance(error, ToolException):
        rest = {"retryable": error.retryable, "retry_after_ms": error.retry_after_ms}
        return {"failure": error.kind, **_said(error), **rest}
    if isinstance(error, InvalidArguments):
        return {"failure": error.kind, "errors": list(error.errors)}
    if isinstance(error, ToolOutputError):
        return {"failure": error.kind, "message": error.message}
    return {
        "crash": _text(error),
        "classes": [[kind.__module__, kind.__qualname__] for kind in type(error).__mro__],
        "traceback": join_traceback(traceback.format_exception(error)),
        "is_worn": isinstance(error, MemoryError),
    }


def raise_failure(answer: Mapping[str, Any]) -> None:
    """Raise what an answer says was raised; nothing if it says of none.

    Raises:
        ToolFailure: The model is told.
        ToolCrashed: The tool raised anything else.
    """
    if "crash" in answer:
        crashed = _crashed(answer["crash"], answer["classes"])
        crashed.add_note(f"In the tool's process:\n{answer['traceback']}")
        raise crashed
    if "failure" in answer:
        raise _failure(answer["failure"], answer)


def _failure(kind: str, answer: Mapping[str, Any]) -> ToolFailure:
    if kind == "invalid_arguments":
        return InvalidArguments(answer["errors"])
    if kind == "output_error":
        return ToolOutputError(answer["message"])
    first = [answer["content"]] if "content" in answer else []
    failure = ToolException(*first, *answer["more"], retryable=answer["retryable"])
    failure.retry_after_ms = answer["retry_after_ms"]
    return failure


def _crashed(text: str, classes: Sequence[Sequence[str]]) -> ToolCrashed:
    """Make an error that `except` and `Retry(on=...)` know as what the tool raised, or as the nearest base of it."""
    for module, name in classes:
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, SidecallError):
            with suppress(TypeError):  # Some classes take no subclasses, or make their instances in a way of their own.
                crashed: ToolCrashed = type(name, (ToolCrashed, kind), {"__module__": module})(text)
                return crashed
    return ToolCrashed(text)


def _said(error: ToolException) -> dict[str, Any]:
    """Say its arguments, the first one apart: it is what the model reads, and may be long."""
    args = _plain_args(error)
    return {"content": args[0], "more": args[1:]} if args else {"more": []}


def _plain_args(error: ToolException) -> Sequence[Any]:
    """Reduce its arguments to what JSON has, or to what the model would read, where they would not say that there."""
    try:
        plain = error.args if all(type(arg) is str for arg in error.args) else to_plain(list(error.args))
    except ValueError:
        return [render_failure(error)]
    return plain if render_failure(ToolException(*plain)) == render_failure(error) else [render_failure(error)]


def _text(error: BaseException) -> str:
    try:
        return replace_surrogates(str(error)[:MOST])
    except Exception:
        return type(error).__name__
