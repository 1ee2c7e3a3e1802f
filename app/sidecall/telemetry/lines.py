"""The log lines about calls."""

import logging
import time
from typing import Any

from sidecall.core.context import ANONYMOUS, cut_id
from sidecall.core.errors import ToolExecutionError, ToolFailure, ToolOutputError
from sidecall.core.invocation import CallRequest, Invocation
from sidecall.telemetry.redact import Redaction

logger = logging.getLogger("sidecall")


def log_hook_failure(invocation: Invocation, hook: str, error: BaseException) -> None:
    """Log that code which the author put around a tool crashed; the call went on without it."""
    # `event` is what our own formatter writes for the message, whose ids it has as keys.
    keys = make_call_keys(invocation) | {"event": "hook failed", "hook": hook}
    logger.error("%s of tool %s failed (call %s)", hook, keys["tool"], keys["call_id"], exc_info=error, extra=keys)


def log_predicate_failure(tool: str, error: BaseException) -> None:
    """Log that a tool could not say whether it is enabled, which hides it."""
    logger.error("is_enabled of tool %s failed; the tool is hidden", tool, exc_info=error, extra={"tool": tool})


def log_failure(invocation: Invocation, failure: ToolFailure) -> None:
    """Log one line for a failure that needs a person, with the traceback that the model must not see."""
    if not isinstance(failure, (ToolExecutionError, ToolOutputError)):
        return
    keys = make_call_keys(invocation) | {
        "event": "tool failed",
        "outcome": failure.kind,
        **_make_duration_key(invocation),
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


def make_call_keys(invocation: Invocation) -> dict[str, Any]:
    """Name a call in a log line, and who sent it where that is known."""
    keys = {"tool": invocation.tool.name, "call_id": cut_id(invocation.call.id), "invocation_id": invocation.id}
    return keys | _make_caller_key(invocation.request)


def _make_caller_key(request: CallRequest) -> dict[str, str]:
    return {} if request.caller is ANONYMOUS else {"caller": cut_id(request.caller.subject)}


class CallLines:
    """Log one line for each call that has ended: at level info where that is wanted, else at level debug."""

    def __init__(self, *, wanted: bool = False, with_content: bool = False, redaction: Redaction | None = None) -> None:
        self._level = logging.INFO if wanted else logging.DEBUG
        self._with_content = with_content
        self._redaction = redaction or Redaction()

    def log_end(self, invocation: Invocation, outcome: str) -> None:
        """Log a call that has ended, with what it was asked and what it answered if the operator wants that."""
        if not logger.isEnabledFor(self._level):
            return
        keys = make_call_keys(invocation) | {"event": "tool call", "outcome": outcome, **_make_duration_key(invocation)}
        if self._with_content:
            keys["arguments"] = redact_arguments(invocation, self._redaction)
            keys["result"] = redact_result(invocation, self._redaction)
        logger.log(self._level, "tool %s: %s (call %s)", keys["tool"], outcome, keys["call_id"], extra=keys)

    def log_refusal(self, request: CallRequest, outcome: str) -> None:
        """Log a call that never began, of a tool that may not exist."""
        if logger.isEnabledFor(self._level):
            tool, call_id = cut_id(request.call.name), cut_id(request.call.id)
            keys = {
                "event": "tool call",
                "tool": tool,
                "call_id": call_id,
                "outcome": outcome,
                **_make_caller_key(request),
            }
            logger.log(self._level, "tool %s: %s (call %s)", tool, outcome, call_id, extra=keys)


def redact_arguments(invocation: Invocation, redaction: Redaction) -> dict[str, Any]:
    """Copy what the model sent, without what it had no business to send and without secrets."""
    hidden = invocation.tool.hidden_names
    return redaction.redact_fields({name: value for name, value in invocation.args.items() if name not in hidden})


def redact_result(invocation: Invocation, redaction: Redaction) -> Any:
    """Copy what the model is answered, without secrets; None when there is no answer."""
    return None if invocation.message is None else redaction.redact(invocation.message.content)


def _make_duration_key(invocation: Invocation) -> dict[str, float]:
    return {"duration_ms": round((time.monotonic() - invocation.started) * 1000, 3)}
