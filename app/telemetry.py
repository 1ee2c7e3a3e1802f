"""What the operator sees of a call."""

import logging

from app.core.errors import ToolExecutionError, ToolFailure, ToolOutputError
from app.core.invocation import Invocation

logger = logging.getLogger("sidecall")


def log_handler_failure(invocation: Invocation, error: Exception) -> None:
    """Log that an author's error handler crashed; the call is answered with the default text."""
    logger.error(
        "an error handler of tool %s failed (call %s)", invocation.tool.name, invocation.call.id, exc_info=error
    )


def log_failure(invocation: Invocation, failure: ToolFailure) -> None:
    """Log one line for a failure that needs a person, with the traceback that the model must not see."""
    if not isinstance(failure, (ToolExecutionError, ToolOutputError)):
        return
    logger.error(
        "tool %s failed: %s (call %s, invocation %s)",
        invocation.tool.name,
        failure.kind,
        invocation.call.id,
        invocation.id,
        exc_info=failure.__cause__ or failure,
    )
