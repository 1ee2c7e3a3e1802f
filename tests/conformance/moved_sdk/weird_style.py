"""Function tools with the rarer features of the SDK, each of which some project uses."""

from __future__ import annotations

import asyncio
import functools
import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import IntEnum, StrEnum
from typing import Annotated, Any, Callable, Generic, Literal, NamedTuple, Optional, TypeVar, Union
from uuid import UUID

from agents import (
    FunctionTool,
    RunContextWrapper,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    ToolOutputFileContent,
    ToolOutputGuardrail,
    ToolOutputGuardrailData,
    function_tool,
)
from agents.exceptions import ModelBehaviorError, ToolTimeoutError, UserError
from agents.tool_context import ToolContext
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, RootModel

T = TypeVar("T")


@dataclass
class UserInfo:
    name: str
    credits: int = 3
    log: list[str] = field(default_factory=list)


Context = RunContextWrapper[UserInfo]


class Size(StrEnum):
    SMALL = "s"
    LARGE = "l"


class Level(IntEnum):
    LOW = 1
    HIGH = 5


class Page(BaseModel, Generic[T]):
    items: list[T]
    next: Optional[int] = None


class Names(RootModel[list[str]]):
    pass


class Spot(NamedTuple):
    x: int
    y: int = 0


# Errors are told apart by their classes.
def word(ctx: Context, error: Exception) -> str:
    if isinstance(error, ModelBehaviorError):
        return "model: " + str(error).split(":")[0]
    if isinstance(error, ToolTimeoutError):
        return f"late: {error.tool_name} {error.timeout_seconds:g}"
    if isinstance(error, UserError):
        return f"user: {error.message}"
    return f"{ctx.context.name}: {type(error).__name__}: {error}"


@function_tool(failure_error_function=word, timeout=0.05, timeout_error_function=word)
async def risky(kind: str, size: Size = Size.SMALL) -> str:
    """Fail in some way."""
    if kind == "user":
        raise UserError("wrong use")
    if kind == "late":
        await asyncio.sleep(5)
    if kind == "zero":
        raise ZeroDivisionError("by zero")
    return f"{kind} {size.value}"


# A generic model, a root model and an enumeration of numbers.
@function_tool
def paginate(page: Page[int], names: Names, level: Level) -> dict[str, Any]:
    """Turn pages.

    Args:
        page: The page.
        names: Who.
        level: How high.
    """
    return {"items": page.items, "next": page.next, "names": names.root, "level": level.name}


# A decorator of the team, and validators in annotations.
def counted(function: Callable[..., Any]) -> Callable[..., Any]:
    calls: list[int] = []

    @functools.wraps(function)
    async def wrapper(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        return {"call": len(calls) > 0, "answer": await function(*args, **kwargs)}

    return wrapper


def _strip(value: Any) -> Any:
    return value.strip() if isinstance(value, str) else value


@function_tool
@counted
async def clean(text: Annotated[str, BeforeValidator(_strip), Field(max_length=5, description="A text")]) -> str:
    """Clean a text."""
    return text


# State in the context, which the tool changes.
@function_tool(name_override="spend-credits", needs_approval=lambda ctx, args, call_id: args.get("amount", 0) > 2)
def spend(ctx: Context, amount: Annotated[int, Field(ge=1)]) -> str:
    """Spend credits."""
    if amount > ctx.context.credits:
        raise ValueError("too few credits")
    ctx.context.credits -= amount
    ctx.context.log.append(f"spent {amount}")
    return f"{ctx.context.credits} left; {ctx.context.log}"


# Guardrails that are made without their decorators, with verdicts made by hand.
def _check_words(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
    words = json.loads(data.context.tool_arguments).get("words", [])
    if "secret" in words:
        return ToolGuardrailFunctionOutput(
            output_info={"found": "secret"}, behavior={"type": "reject_content", "message": "No secrets."}
        )
    if "halt" in words:
        return ToolGuardrailFunctionOutput(output_info=None, behavior={"type": "raise_exception"})
    return ToolGuardrailFunctionOutput(output_info={"count": len(words)})


async def _check_answer(data: ToolOutputGuardrailData) -> ToolGuardrailFunctionOutput:
    if data.context.context.name == "Mallory":
        return ToolGuardrailFunctionOutput.reject_content(f"{data.context.context.name} reads nothing.")
    return ToolGuardrailFunctionOutput.allow()


@function_tool(
    tool_input_guardrails=[ToolInputGuardrail(guardrail_function=_check_words, name="words")],
    tool_output_guardrails=[ToolOutputGuardrail(_check_answer)],
)
def join(ctx: Context, words: list[str], sep: str = " ") -> str:
    """Join words."""
    return sep.join(words) + f" for {ctx.context.name}"


# A tool by hand that checks its own input and knows its call.
class SearchArgs(BaseModel):
    model_config = ConfigDict(extra="forbid")

    q: str
    mode: Literal["fast", "deep"] = "fast"


async def _search(ctx: ToolContext[UserInfo], raw: str) -> Any:
    args = SearchArgs.model_validate_json(raw)
    if args.q == "crash":
        raise RuntimeError("crash")
    return {"q": args.q, "mode": args.mode, "by": ctx.context.name, "tool": ctx.tool_name}


search = FunctionTool(
    name="search",
    description="Search.",
    params_json_schema={**SearchArgs.model_json_schema(), "required": ["q", "mode"]},
    on_invoke_tool=_search,
    is_enabled=lambda ctx, agent: ctx.context.credits > 0,
)


# A tool made of the parts that the SDK offers for it.
def _area(width: float, height: Decimal | None = None) -> str:
    """Work out an area.

    Args:
        width: How wide.
        height: How high.
    """
    return str(Decimal(str(width)) * (height or Decimal(1)))


area = function_tool(_area, name_override="area", strict_mode=False)


# Methods, static ones, and an object that is called.
class Shop:
    def __init__(self, prices: Mapping[str, float]) -> None:
        self.prices = prices

    def price(self, ctx: Context, item: str, count: int = 1) -> str:
        """Say a price.

        Args:
            item: What.
            count: How many.
        """
        return f"{self.prices[item] * count:.2f} for {ctx.context.name}"

    @staticmethod
    async def opening(day: Literal["mon", "sun"]) -> str:
        """Say when the shop is open."""
        return {"mon": "9-17", "sun": "closed"}[day]


shop = Shop({"tea": 2.5})
price = function_tool(shop.price)
opening = function_tool(Shop.opening, description_override="")


# Sync work that takes a while, and strange types.
@function_tool(strict_mode=False)
def odd(
    ids: set[UUID],
    wait: timedelta = timedelta(0),
    pair: tuple[int, str] | None = None,
    raw: bytes = b"",
    either: Union[int, list[int], dict[str, int]] = 0,
) -> str:
    """Take odd things."""
    time.sleep(wait.total_seconds())
    return f"{sorted(str(it)[:4] for it in ids)} {wait} {pair} {raw!r} {either}"


@function_tool
def attach(name: str, as_id: bool) -> ToolOutputFileContent:
    """Attach a file."""
    if as_id:
        return ToolOutputFileContent(file_id=name)
    return ToolOutputFileContent(filename=name, file_data="data:text/plain;base64,aGk=")


# One that calls another.
@function_tool
async def twice(ctx: ToolContext[Any], width: float) -> str:
    """Ask another tool twice."""
    said = [await area.on_invoke_tool(ctx, json.dumps({"width": width, "height": n})) for n in (1, 2)]
    return f"{ctx.context.name}: {said}"
