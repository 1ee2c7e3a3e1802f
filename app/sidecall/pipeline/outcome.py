"""Say in one word how a call ended."""

import asyncio

from sidecall.core.approval import ApprovalRequired
from sidecall.core.errors import RequestError
from sidecall.core.invocation import Invocation
from sidecall.core.observer import Outcome
from sidecall.pipeline.isolate import kind_of


def outcome_of(invocation: Invocation) -> Outcome:
    """Name the end of a call that was answered with a message."""
    if invocation.failure is not None:
        return invocation.failure.kind
    message = invocation.message
    return "tool_error" if message is not None and message.status == "error" else "success"


def outcome_of_error(error: BaseException) -> Outcome:
    """Name the end of a call that was not."""
    if isinstance(error, (RequestError, ApprovalRequired)):
        return kind_of(error)
    return "cancelled" if isinstance(error, (asyncio.CancelledError, GeneratorExit)) else "internal_error"
