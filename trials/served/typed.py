"""Tools with many kinds of parameters, for callers that send anything, and one of each that the contract speaks of."""

import asyncio
from datetime import date
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel

from sidecall import (
    InjectedState,
    ToolContext,
    ToolException,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    tool,
    tool_input_guardrail,
)
from sidecall.loading.modules.loading import load_file

_SHIPPED = Path(__file__).parents[2] / "tools"

calculator = load_file(_SHIPPED / "calculator.py").calculator
current_time = load_file(_SHIPPED / "clock.py").current_time


class Row(BaseModel):
    """One row of a table."""

    a: int = 1
    b: str | None = None


@tool(executor="inline")
def rows(rows: list[Row], on: date | None = None) -> int:
    """Count rows."""
    return len(rows) + (on is not None)


@tool(executor="process")
def apart(text: str, state: Annotated[Any, InjectedState] = None) -> str:
    """Repeat a text from a process."""
    return f"{text} {state}"


@tool
def choose(one: Literal["first", "second"], either: int | str | dict[str, Any] = 0, *rest: float, **more: Any) -> Any:
    """Repeat what was chosen."""
    return [one, either, rest, more]


@tool(requires_approval=True)
async def approved(amount: int) -> str:
    """Ask a person first."""
    return f"paid {amount}"


@tool(failure_error_function=None)
async def fail_through() -> None:
    """Let the calling program see the failure."""
    raise ToolException("broken")


@tool(max_content_bytes=200)
async def kept() -> str:
    """Return more than a model may read."""
    return "x" * 1000


@tool_input_guardrail
def never(_: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    """Refuse every call, to the calling program."""
    return ToolGuardrailFunctionOutput.raise_exception("forbidden")


@tool(tool_input_guardrails=[never])
async def forbidden() -> None:
    """Be refused."""


@tool
async def waiting(seconds: float, context: ToolContext) -> str:
    """Take a while."""
    await context.progress(0, 1)
    await asyncio.sleep(seconds)
    return "done"
