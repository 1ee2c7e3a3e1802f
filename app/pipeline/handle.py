"""Ask the tool's author how a failure is worded for the model."""

import inspect
from typing import Any

from app.core.errors import InvalidArguments, ToolException, ToolFailure
from app.core.tool import ToolOptions

# LangChain's text for handle_validation_error=True.
_FIXED = "Tool input validation error"


async def handled(options: ToolOptions, failure: ToolFailure) -> Any:
    """Return the author's words for this failure, None where the default ones stand.

    A handler of argument errors is given pydantic's ValidationError, as in LangChain. Whatever a handler raises is
    raised.
    """
    argument: Exception = failure
    if isinstance(failure, ToolException):
        handler, fixed = options.handle_tool_error, None
    elif isinstance(failure, InvalidArguments):
        handler, fixed, argument = options.handle_validation_error, _FIXED, failure.original or failure
    else:
        return None
    if isinstance(handler, bool):
        return fixed if handler else None
    if isinstance(handler, str):
        return handler
    words = handler(argument)
    return await words if inspect.isawaitable(words) else words
