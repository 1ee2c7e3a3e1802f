"""Carry a tool's exception from its process to the server."""

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sidecall.features.processes.typed_failures import (
    list_classes,
    read_typed,
    restore_own_class,
    write_own_class,
    write_typed,
)
from sidecall.kernel.core.errors import InvalidArguments, SidecallError, ToolException, ToolFailure
from sidecall.kernel.core.log_text import MOST, format_error, join_traceback
from sidecall.kernel.core.overload import read_http_exception, read_refusal, read_store_unavailable
from sidecall.kernel.json_data.to_json import render_failure, replace_surrogates, to_plain
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.ports.user_tokens import UserTokenRefused

# The kind of a tool's wish that a person decides.
_APPROVAL = "approval_required"
# That of Sidecall's other failures and refusals.
_TYPED = "typed"
# That of a token which its provider refuses.
_REFUSED = "user_token_refused"


class ToolCrashed(Exception):
    """The tool raised something other than a ToolException in its process; that traceback is attached as a note.

    The text is that of the exception; if the server knows the exception's class, this is an instance of it too.
    """

    def __init__(self, text: str) -> None:
        self.args = (text,)

    def __str__(self) -> str:
        return str(self.args[0])


def write_failure(error: BaseException) -> dict[str, Any]:
    """Reduce an exception to plain values; `is_worn` says that its process must not be reused.

    `kind` is that of the failure, or `crash` for an exception that is not reported to the model.
    """
    try:
        return _write_known(error) or _write_crash(error)
    except Exception as crash:  # An error of the author's own class runs code of theirs.
        return _write_crash(crash)


def _write_known(error: BaseException) -> dict[str, Any] | None:
    """Write a failure of a known kind; None for others."""
    error = read_store_unavailable(error) or error
    if isinstance(error, ToolException):
        rest = {"retryable": error.retryable, "retry_after_ms": error.retry_after_ms}
        return {"kind": ToolException.kind, **_write_args(error), **rest, **write_own_class(error)}
    if isinstance(error, InvalidArguments):
        return {"kind": InvalidArguments.kind, "errors": list(error.errors)}
    if isinstance(error, ApprovalRequired) and error.is_new:
        return {"kind": _APPROVAL, **_write_question(error)}
    if isinstance(error, UserTokenRefused):
        return {"kind": _REFUSED, "provider": error.provider}
    typed = error if isinstance(error, ToolFailure) else read_refusal(error)
    return None if typed is None else {"kind": _TYPED, **write_typed(typed)}


def _write_crash(error: BaseException) -> dict[str, Any]:
    return {
        "kind": "crash",
        "text": _text(error),
        "members": _write_members(error),
        "classes": list_classes(error),
        "traceback": join_traceback(format_error(error)),
        "is_worn": isinstance(error, MemoryError),
    }


def _write_question(asked: ApprovalRequired) -> dict[str, Any]:
    """Write the tool's question to a person; parts without a JSON form are left out."""
    shown: dict[str, Any] = {}
    for name in ("preview", "payload", "state"):
        try:
            shown[name] = to_plain(getattr(asked, name))
        except ValueError:
            shown[name] = f"(JSON cannot say this {name}.)"
    return {"message": asked.description, **shown}


def raise_failure(answer: Mapping[str, Any]) -> None:
    """Raise the exception in an answer; do nothing for an output.

    Raises:
        ToolFailure: The model is told.
        ApprovalRequired: The tool wants a person to decide.
        UserTokenRefused: A person has to sign in again.
        CallRefused: There is no room for the call.
        ToolCrashed: The tool raised anything else.
    """
    read = _READERS.get(answer["kind"])
    if read is not None:
        raise read(answer)


def _read_exception(answer: Mapping[str, Any]) -> ToolException:
    first = [answer["content"]] if "content" in answer else []
    failure = ToolException(*first, *answer["more"], retryable=answer["retryable"])
    failure.retry_after_ms = answer["retry_after_ms"]
    return restore_own_class(failure, answer)


def _read_crash(answer: Mapping[str, Any]) -> ToolCrashed:
    crashed = _make_crashed(answer["text"], answer["classes"])
    vars(crashed).update(answer["members"])
    crashed.add_note(f"In the tool's process:\n{answer['traceback']}")
    return crashed


def _make_crashed(text: str, classes: Sequence[Sequence[str]]) -> ToolCrashed:
    """Make an error that `except` and `Retry(on=...)` treat as the tool's exception, or as its nearest known base."""
    for module, name in classes:
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and issubclass(kind, Exception) and not issubclass(kind, SidecallError):
            with suppress(TypeError):  # Some classes take no subclasses, or make their instances in a way of their own.
                crashed: ToolCrashed = type(name, (ToolCrashed, kind), {"__module__": module})(text)
                return crashed
    return ToolCrashed(text)


def _write_args(error: ToolException) -> dict[str, Any]:
    """Write the exception's arguments, the first one separately, since the model reads it and it may be long."""
    args = _reduce_args(error)
    return {"content": args[0], "more": args[1:]} if args else {"more": []}


def _reduce_args(error: ToolException) -> Sequence[Any]:
    """Reduce the arguments to JSON, or to the text the model would read."""
    try:
        plain = error.args if all(type(arg) is str for arg in error.args) else to_plain(list(error.args))
    except ValueError:
        return [render_failure(error)]
    return plain if render_failure(ToolException(*plain)) == render_failure(error) else [render_failure(error)]


def _write_members(error: BaseException) -> dict[str, Any]:
    """Write the attributes of an HTTPException besides its text."""
    refusal = read_http_exception(error)
    if refusal is None:
        return {}
    said = {name: vars(error).get(name) for name in ("status_code", "detail", "headers")}
    try:
        members: dict[str, Any] = to_plain(said)
    except ValueError:
        return {"status_code": refusal.details["http_status"], "detail": render_failure(refusal)}
    return members


def _text(error: BaseException) -> str:
    try:
        return replace_surrogates(str(error)[:MOST])
    except BaseException:
        return type(error).__name__


_READERS: Mapping[str, Callable[[Mapping[str, Any]], Exception]] = {
    ToolException.kind: _read_exception,
    InvalidArguments.kind: lambda answer: InvalidArguments(answer["errors"]),
    _APPROVAL: lambda answer: ApprovalRequired(
        answer["message"], preview=answer["preview"], payload=answer["payload"], state=answer["state"]
    ),
    _REFUSED: lambda answer: UserTokenRefused(answer["provider"]),
    _TYPED: read_typed,
    "crash": _read_crash,
}
