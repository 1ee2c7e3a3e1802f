"""The outcome of a call, in one word."""

import asyncio

from sidecall.kernel.core.errors import RequestError, ToolFailure
from sidecall.kernel.core.invocation import Invocation
from sidecall.kernel.pipeline.isolate import find_kind
from sidecall.kernel.ports.approvals.approval import AlreadyAnswered, ApprovalRequired
from sidecall.kernel.ports.observer import Outcome


def find_outcome(invocation: Invocation) -> Outcome:
    """Return the outcome of a call that has passed all its stages."""
    message, error = invocation.message, invocation.error
    if error is None or isinstance(error, AlreadyAnswered):
        failed: Outcome = "rejected" if error is not None and error.approval.status == "rejected" else "tool_error"
        return failed if message is not None and message.status == "error" else "success"
    return error.kind if message is not None and isinstance(error, ToolFailure) else find_outcome_of_error(error)


def find_outcome_of_error(error: BaseException) -> Outcome:
    """Return the outcome of a call that ended with an error instead of a message."""
    if isinstance(error, (RequestError, ApprovalRequired)):
        return find_kind(error)
    return "cancelled" if isinstance(error, (asyncio.CancelledError, GeneratorExit)) else "internal_error"
