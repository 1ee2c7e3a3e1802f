"""Function tools of objects, methods and odd signatures, which fail in several ways."""

import asyncio
from typing import Any

from agents import (
    FunctionTool,
    RunContextWrapper,
    ToolOutputText,
    default_tool_error_function,
    function_tool,
)
from agents.tool_context import ToolContext
from pydantic import BaseModel


class UserInfo(BaseModel):
    user: str
    visits: int = 0


class Greeter:
    """Greet people."""

    def __init__(self, word: str) -> None:
        self.word = word

    def __call__(self, name: str) -> str:
        """Greet somebody."""
        return f"{self.word} {name}"

    async def part(self, name: str) -> str:
        """Say goodbye."""
        await asyncio.sleep(0)
        return f"bye {name}"


greet = function_tool(Greeter("hi"))
part = function_tool(Greeter("ho").part)


@function_tool(strict_mode=False)
def free(a: int, **rest: int) -> str:
    """Take more."""
    return f"{a} {sorted(rest.items())}"


@function_tool(strict_mode=False)
def keyed(a: int, /, b: int = 2, *, c: int = 3) -> str:
    """Take arguments in every way."""
    return f"{a}{b}{c}"


@function_tool(failure_error_function=default_tool_error_function)
def stop(kind: str) -> str:
    """Fail."""
    if kind == "key":
        raise KeyError(kind)
    if kind == "os":
        raise OSError(2, "gone")
    return "ran"


async def explain(ctx: RunContextWrapper[Any], error: Exception) -> str:
    """Word a failure."""
    await asyncio.sleep(0)
    return f"failed: {error}"


@function_tool(failure_error_function=explain)
async def divide(a: int, b: int) -> float:
    """Divide."""
    return a / b


async def is_frequent(ctx: RunContextWrapper[UserInfo], agent: Any) -> bool:
    return ctx.context.visits > 2


@function_tool(is_enabled=is_frequent)
def reward(ctx: RunContextWrapper[UserInfo]) -> str:
    """Reward those who come often."""
    ctx.context.visits += 1
    return f"{ctx.context.user}: {ctx.context.visits}"


@function_tool(needs_approval=True)
def erase(path: str) -> str:
    """Erase."""
    return f"erased {path}"


@function_tool(is_enabled=False)
def off() -> str:
    """Be off."""
    return "on"


async def raw(ctx: ToolContext[Any], text: str) -> Any:
    if '"bad"' in text:
        raise RuntimeError("bad")
    return [ToolOutputText(text=ctx.tool_name), {"type": "text", "text": text}]


echo = FunctionTool(
    "echo",
    "Say what came.",
    {"type": "object", "properties": {"t": {"type": "string"}}, "required": ["t"], "additionalProperties": False},
    raw,
    timeout_seconds=3,
)


@function_tool(name_override="counted", description_override="Count.", strict_mode=True)
def count(ctx: ToolContext[UserInfo], items: list[str] | None = None) -> int:
    """Not this."""
    return len(items or []) + ctx.usage.requests


@function_tool
async def text_dict(n: int) -> Any:
    """Answer with a dict."""
    return {"type": "text", "text": "t" * n} if n else {"type": "text"}
