"""What the operator sees of a call."""

import logging

from app.core.errors import ToolExecutionError, ToolFailure, ToolOutputError
from app.core.invocation import Invocation

logger = logging.getLogger("sidecall")


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
