"""The log lines about failures that need a person."""

import logging
import time
from typing import Any

from sidecall.kernel.core.context import ANONYMOUS, cut_id
from sidecall.kernel.core.errors import ToolExecutionError, ToolFailure, ToolNotConfigured, ToolOutputError
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.origin import get_origin, name_origin

logger = logging.getLogger("sidecall")


def log_hook_failure(invocation: Invocation, hook: str, error: BaseException) -> None:
    """Log a crash of an author's hook; the call continued without it."""
    # `event` is our formatter's key for the message, whose ids are keys of the line.
    keys = make_call_keys(invocation) | {"event": "hook failed", "hook": hook}
    logger.error("%s of tool %s failed (call %s)", hook, keys["tool"], keys["call_id"], exc_info=error, extra=keys)


def log_predicate_failure(tool: str, error: BaseException) -> None:
    """Log that a tool's `is_enabled` raised, which hides the tool."""
    logger.error("is_enabled of tool %s failed; the tool is hidden", tool, exc_info=error, extra={"tool": tool})


def log_failure(invocation: Invocation, failure: ToolFailure) -> None:
    """Log one line for a failure that needs a person, with the traceback, which the model must not see."""
    if isinstance(failure, ToolNotConfigured):
        _log_missing_setting(invocation, failure)
    if not isinstance(failure, (ToolExecutionError, ToolOutputError)):
        return
    keys = make_call_keys(invocation) | {
        "event": "tool failed",
        "outcome": failure.kind,
        **make_duration_key(invocation),
    }
    logger.error(
        "tool %s failed: %s (call %s, invocation %s)",
        keys["tool"],
        failure.kind,
        keys["call_id"],
        keys["invocation_id"],
        exc_info=failure.__cause__ or failure,
        extra=keys,
    )


def _log_missing_setting(invocation: Invocation, failure: ToolNotConfigured) -> None:
    """Log a missing setting, without a traceback, since nothing has crashed."""
    keys = make_call_keys(invocation) | {
        "event": "tool not configured",
        "outcome": failure.kind,
        "lack": failure.lack,
        **make_duration_key(invocation),
    }
    logger.error(
        "tool %s is not configured: %s (call %s, invocation %s)",
        keys["tool"],
        failure.lack,
        keys["call_id"],
        keys["invocation_id"],
        extra=keys,
    )


def make_call_keys(invocation: Invocation) -> dict[str, Any]:
    """Return the fields that identify a call in a log line, and its sender if known."""
    keys = {"tool": invocation.tool.name, "call_id": cut_id(invocation.call.id), "invocation_id": invocation.id}
    return keys | make_caller_key(invocation.request) | name_origin(get_origin(invocation))


def make_caller_key(request: CallRequest) -> dict[str, str]:
    """Return the field that names who has sent a call; none where callers are not told apart."""
    return {} if request.sender.caller is ANONYMOUS else {"caller": cut_id(request.sender.caller.subject)}


def make_duration_key(invocation: Invocation) -> dict[str, float]:
    """Return the field with the milliseconds since a call began."""
    return {"duration_ms": round((time.monotonic() - invocation.started) * 1000, 3)}
