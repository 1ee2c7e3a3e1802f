"""Function tools of a support desk, with most options that the SDK's reference lists."""

import asyncio
import json
from dataclasses import dataclass, field
from datetime import date
from enum import Enum
from typing import Annotated, Any, Literal, Optional

from agents import (
    FunctionTool,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputGuardrailData,
    ToolOutputImage,
    ToolOutputText,
    default_tool_error_function,
    function_tool,
    tool_input_guardrail,
    tool_output_guardrail,
)
from agents.tool_context import ToolContext
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from typing_extensions import NotRequired, TypedDict


@dataclass
class UserInfo:
    name: str
    role: str = "agent"
    limits: dict[str, int] = field(default_factory=dict)


class Priority(Enum):
    LOW = 1
    HIGH = 2


class Ticket(BaseModel):
    """A ticket."""

    model_config = ConfigDict(str_strip_whitespace=True)

    title: Annotated[str, Field(min_length=3)]
    priority: Priority = Priority.LOW
    tags: list[str] = Field(default_factory=list, max_length=2)

    @field_validator("tags")
    @classmethod
    def lower(cls, tags: list[str]) -> list[str]:
        return [tag.lower() for tag in tags]

    @model_validator(mode="after")
    def check(self) -> "Ticket":
        if self.priority is Priority.HIGH and not self.tags:
            raise ValueError("a ticket of high priority needs tags")
        return self


@function_tool
async def open_ticket(ctx: RunContextWrapper[UserInfo], ticket: Ticket) -> str:
    """Open a ticket.

    Args:
        ticket: What to open.
    """
    await asyncio.sleep(0)
    return f"{ctx.context.name}: {ticket.title} {ticket.priority.name} {ticket.tags}"


@dataclass
class Period:
    start: date
    days: int = 1


@function_tool(strict_mode=False, docstring_style="numpy")
def book(period: Period, rooms: dict[str, int], note: Optional[str] = None) -> str:
    """Book rooms.

    Parameters
    ----------
    period : Period
        When.
    rooms : dict
        How many of each kind.
    note : str, optional
        What else is wished.
    """
    return f"{period.start.isoformat()}+{period.days} {sorted(rooms.items())} {note}"


@function_tool(use_docstring_info=False, name_override="lookup", description_override="Look something up.")
def _lookup(key: str, scope: Literal["mine", "all"] = "mine") -> str:
    """Not shown."""
    return f"{key}@{scope}"


async def explain(ctx: RunContextWrapper[Any], error: Exception) -> str:
    return f"{type(error).__name__} for {ctx.context.name}: {error}"


@function_tool(failure_error_function=explain)
def transfer(amount: Annotated[float, Field(gt=0)], to: str) -> str:
    """Transfer money.

    Args:
        amount: How much.
        to: To whom.
    """
    if to == "nobody":
        raise LookupError(f"no account {to}")
    return f"{amount:.2f} to {to}"


@function_tool(failure_error_function=None)
def raw(path: str) -> str:
    """Read a raw thing."""
    if path.startswith("/"):
        raise PermissionError(path)
    return path


async def is_boss(ctx: RunContextWrapper[UserInfo], agent: Any) -> bool:
    return ctx.context.role == "boss"


async def above_limit(ctx: RunContextWrapper[UserInfo], params: dict[str, Any], call_id: str) -> bool:
    return params["amount"] > ctx.context.limits.get("refund", 10)


@function_tool(needs_approval=above_limit)
def refund(amount: int, reason: str = "late") -> str:
    """Pay back.

    Args:
        amount: How much.
        reason: Why.
    """
    return f"paid {amount} for {reason}"


@function_tool(is_enabled=is_boss)
def fire(who: str) -> str:
    """Fire somebody."""
    return f"{who} is fired"


@tool_input_guardrail(name="only_known")
async def only_known(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    args = json.loads(data.context.tool_arguments)
    if args["who"] == "stranger":
        return ToolGuardrailFunctionOutput.reject_content(
            message="Strangers are not written to.", output_info={"who": args["who"]}
        )
    return ToolGuardrailFunctionOutput.allow(output_info="known")


def no_shouting(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    if "!" in json.loads(data.context.tool_arguments)["text"]:
        return ToolGuardrailFunctionOutput.reject_content("Do not shout.")
    return ToolGuardrailFunctionOutput.allow()


@tool_output_guardrail
async def no_numbers(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
    if any(char.isdigit() for char in str(data.output)):
        return ToolGuardrailFunctionOutput.reject_content(f"{data.context.tool_name} said a number.")
    return ToolGuardrailFunctionOutput.allow()


@function_tool(
    tool_input_guardrails=[only_known, ToolInputGuardrail(guardrail_function=no_shouting)],
    tool_output_guardrails=[no_numbers],
)
async def write_to(who: str, text: str) -> str:
    """Write to somebody."""
    return f"wrote {text} to {who}"


def too_slow(ctx: RunContextWrapper[Any], error: Exception) -> str:
    return f"{type(error).__name__}: too slow for {ctx.context.name}"


@function_tool(timeout=0.05, timeout_behavior="error_as_result", timeout_error_function=too_slow)
async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return "waited"


class Point(TypedDict):
    x: int
    y: NotRequired[int]


@function_tool(strict_mode=False)
def draw(points: list[Point], color: Annotated[str, "The color", Field(pattern="^[a-z]+$")] = "red") -> list[Any]:
    """Draw points."""
    picture = ToolOutputImage(image_url=f"data:image/png;base64,{color}", detail="high")
    return [picture, ToolOutputText(text=f"{len(points)} points")]


async def run_sql(ctx: ToolContext[Any], args: str) -> str:
    given = json.loads(args)
    if "drop" in given["sql"].lower():
        return default_tool_error_function(ctx, ValueError("no"))
    return f"{ctx.tool_name}/{ctx.tool_call_id}: {given['sql']} limit {given.get('limit', 10)}"


sql = FunctionTool(
    name="sql",
    description="Ask the database.",
    params_json_schema={
        "type": "object",
        "properties": {"sql": {"type": "string"}, "limit": {"type": "integer", "minimum": 1}},
        "required": ["sql"],
        "additionalProperties": False,
    },
    on_invoke_tool=run_sql,
    strict_json_schema=False,
)


@function_tool(strict_mode=False)
def nested(value: dict[str, Any] | list[int] | None = None, depth: int = 1) -> Any:
    """Say a value back.

    :param value: Anything.
    :param depth: How deep.
    """
    return {"value": value, "depth": depth}
