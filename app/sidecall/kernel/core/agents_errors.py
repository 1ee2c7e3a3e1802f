"""Errors under the names of the OpenAI Agents SDK."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sidecall.kernel.core.context import ToolContext
from sidecall.kernel.core.errors import InvalidArguments, MalformedArguments, ToolTimeout


class AgentsException(Exception):
    """Everything that goes wrong in the SDK."""

    message: str = ""


class UserError(AgentsException):
    """An author's program uses something wrongly."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ModelBehaviorError(AgentsException):
    """The model has sent what no tool can use; the text names what is wrong, which the SDK does not."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class ToolTimeoutError(AgentsException):
    """A tool's time was up."""

    def __init__(self, tool_name: str, timeout_seconds: float) -> None:
        self.tool_name = tool_name
        self.timeout_seconds = timeout_seconds
        self.message = f"Tool '{tool_name}' timed out after {timeout_seconds:g} seconds."
        super().__init__(self.message)


@dataclass(frozen=True, slots=True)
class SdkWording:
    """A function that formats failures and knows them by the SDK's classes."""

    word: Callable[[ToolContext, BaseException], Any]

    def __call__(self, context: ToolContext, error: BaseException) -> Any:
        """Format a failure."""
        return self.word(context, translate_failure(context, error))


def translate_failure(context: ToolContext, error: BaseException) -> BaseException:
    """Translate one of our errors into the SDK's; return any other unchanged."""
    if isinstance(error, ToolTimeout):
        made: AgentsException = ToolTimeoutError(context.tool_name, error.seconds)
    elif isinstance(error, InvalidArguments | MalformedArguments):
        made = ModelBehaviorError(f"Invalid JSON input for tool {context.tool_name}: {error.message}")
    else:
        return error
    made.__cause__ = error
    return made
