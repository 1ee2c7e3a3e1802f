"""Objects of the shape that the OpenAI Agents SDK's have, which cannot be installed beside our pins."""

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

T = TypeVar("T")


class RunContextWrapper(Generic[T]):
    """Wrap what a run was given."""

    __module__ = "agents.run_context"


class ToolContext(RunContextWrapper[T]):
    """Say more about one call."""

    __module__ = "agents.tool_context"


class ToolOutputText(BaseModel):
    """Say a text."""

    __module__ = "agents.tool"

    type: str = "text"
    text: str


class ToolOutputImage(BaseModel):
    """Show an image."""

    __module__ = "agents.tool"

    type: str = "image"
    image_url: str | None = None
    file_id: str | None = None


@dataclass
class GuardrailOutput:
    """Hold a verdict."""

    output_info: Any
    behavior: dict[str, Any] = field(default_factory=lambda: {"type": "allow"})


@dataclass
class Guardrail:
    """Judge inputs or outputs."""

    guardrail_function: Callable[[Any], Any]
    name: str | None = None

    def get_name(self) -> str:
        """Give its own name, or its function's."""
        return self.name or self.guardrail_function.__name__

    async def run(self, judged: Any) -> GuardrailOutput:
        """Ask the function."""
        result = self.guardrail_function(judged)
        return await result if inspect.isawaitable(result) else result


@dataclass
class FunctionTool:
    """Have the fields of the SDK's FunctionTool."""

    name: str
    description: str
    params_json_schema: dict[str, Any]
    on_invoke_tool: Callable[[Any, str], Any]
    strict_json_schema: bool = True
    is_enabled: Any = True
    tool_input_guardrails: list[Guardrail] | None = None
    tool_output_guardrails: list[Guardrail] | None = None
    needs_approval: Any = False
    timeout_seconds: float | None = None
    timeout_behavior: str = "error_as_result"
    timeout_error_function: Callable[..., Any] | None = None
    _failure_error_function: Callable[..., Any] | None = None
    _use_default_failure_error_function: bool = True


def function_tool(function: Callable[..., Any], **fields: Any) -> FunctionTool:
    """Make one of a function, which can be reached as `__wrapped__`."""
    name = fields.pop("name", function.__name__)
    description = fields.pop("description", "")
    made = FunctionTool(name, description, {"type": "object", "properties": {}}, lambda _context, text: text, **fields)
    vars(made)["__wrapped__"] = function
    return made
