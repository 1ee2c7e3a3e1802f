"""Tools that return and send much, and take any input."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from sidecall import Cache, InjectedState, Secret, StructuredTool, ToolContext, ToolException, Workspace, tool


@tool
async def echo(value: Any) -> Any:
    """Return what comes.

    Args:
        value: What.
    """
    return value


@tool
async def add_lists(lists: list[list[int]]) -> int:
    """Add numbers.

    Args:
        lists: Lists of what to add.
    """
    return sum(map(sum, lists))


@tool
async def add_all(numbers: list[int], names: dict[str, int] | None = None) -> int:
    """Add numbers.

    Args:
        numbers: What to add.
        names: Numbers by names.
    """
    return sum(numbers) + sum((names or {}).values())


@tool
async def report(times: int, *, context: ToolContext) -> str:
    """Say how far it is, without waiting for anything.

    Args:
        times: How often.
    """
    for number in range(times):
        await context.progress(number, times)
    return "done"


@tool
async def count(parts: int) -> AsyncIterator[str]:
    """Yield parts.

    Args:
        parts: How many.
    """
    for number in range(parts):
        yield f"{number}\n"


@tool
async def fill(megabytes: int) -> str:
    """Return a long text.

    Args:
        megabytes: How long.
    """
    return "x\n" * (megabytes * 500_000)


@tool(executor="process")
def list_values(count: int) -> list[dict[str, Any]]:
    """Return many values.

    Args:
        count: How many.
    """
    return [{"number": number, "text": f"value {number}"} for number in range(count)]


@tool(requires_approval=True)
async def approve(value: Any) -> str:
    """Do what a person approves.

    Args:
        value: What.
    """
    return str(value)[:10]


class _Animal(BaseModel):
    kind: Literal["cat", "dog", "heron"]
    lives: int


class _Plant(BaseModel):
    kind: Literal["oak", "fern"]
    height: float


@tool
async def choose_all(values: list[_Animal | _Plant | int | datetime]) -> int:
    """Count what is one of several things.

    Args:
        values: What.
    """
    return len(values)


@tool
async def pick(word: Literal["apple", "pear", "plum", "cherry", "quince"]) -> str:
    """Pick one word of some.

    Args:
        word: Which.
    """
    return word


@tool
async def pick_all(words: list[Literal["apple", "pear", "plum", "cherry", "quince"]]) -> int:
    """Pick words of some.

    Args:
        words: Which.
    """
    return len(words)


@tool
async def date_all(dates: list[datetime]) -> int:
    """Count dates.

    Args:
        dates: Which.
    """
    return len(dates)


@tool
async def match(text: Annotated[str, Field(pattern="^(a|b|ab)*$")]) -> int:
    """Measure a text of some letters.

    Args:
        text: Which.
    """
    return len(text)


async def _count_all(**args: Any) -> str:
    """Count what differs."""
    return str(len(args))


differ = StructuredTool.from_function(
    coroutine=_count_all,
    name="differ",
    description="Count what differs.",
    args_schema={
        "type": "object",
        "properties": {
            "values": {"type": "array", "uniqueItems": True},
            "numbers": {"type": "array", "items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}},
        },
    },
)


@tool
async def recall(state: Annotated[dict[str, Any], InjectedState]) -> int:
    """Say how many messages there are."""
    return len(state["messages"])


@tool(cache=Cache(ttl=60), annotations={"read_only": True})
async def keep(value: Any) -> int:
    """Measure what comes, once.

    Args:
        value: What.
    """
    return len(str(value))


@tool
async def say(megabytes: int, times: int, *, context: ToolContext) -> str:
    """Say long texts.

    Args:
        megabytes: How long each is.
        times: How often.
    """
    for number in range(times):
        await context.progress(number, times, "x" * (megabytes * 1_000_000))
    return "done"


@tool
async def recite(megabytes: int, times: int) -> AsyncIterator[str]:
    """Yield long parts.

    Args:
        megabytes: How long each is.
        times: How many.
    """
    for _ in range(times):
        yield "x" * (megabytes * 1_000_000)


@tool
async def fill_letters(megabytes: int) -> str:
    """Return a long text in letters that take two bytes.

    Args:
        megabytes: How long.
    """
    return "é\n" * (megabytes * 330_000)


@tool
def list_here(count: int) -> list[dict[str, Any]]:
    """Return many values.

    Args:
        count: How many.
    """
    return [{"number": number, "text": f"value {number}"} for number in range(count)]


@tool
def list_nans(count: int) -> list[float]:
    """Return numbers that are none.

    Args:
        count: How many.
    """
    return [float("nan")] * count


@tool
def list_wrongly(count: int) -> list[int]:
    """Return texts in place of numbers.

    Args:
        count: How many.
    """
    return [f"text {number}" for number in range(count)]  # type: ignore[misc]


@tool
def list_blocks(count: int) -> list[dict[str, Any]]:
    """Return many blocks.

    Args:
        count: How many.
    """
    return [{"type": "text", "text": f"value {number}"} for number in range(count)]


@tool
def draw(megabytes: int) -> list[dict[str, Any]]:
    """Return an image.

    Args:
        megabytes: How large.
    """
    return [{"type": "image", "base64": "QUFB" * (megabytes * 250_000), "mime_type": "image/png"}]


@tool(response_format="content_and_artifact")
def enclose(megabytes: int) -> tuple[str, str]:
    """Return a large artifact.

    Args:
        megabytes: How large.
    """
    return "done", "x\n" * (megabytes * 330_000)


@tool(response_format="content_and_artifact")
def enclose_values(count: int) -> tuple[str, list[dict[str, Any]]]:
    """Return an artifact of many values.

    Args:
        count: How many.
    """
    return "done", [{"number": number, "text": f"value {number}"} for number in range(count)]


@tool
def tell_secret(megabytes: int, key: Annotated[str, Secret("TRIAL_KEY", of="server")]) -> str:
    """Return a long text with a secret in it.

    Args:
        megabytes: How long.
    """
    return f"{key[:-1]} {key}\n" * (megabytes * 1_000_000 // (2 * len(key)))


@tool
async def refuse(megabytes: int) -> None:
    """Say no at length.

    Args:
        megabytes: How long.
    """
    raise ToolException("x\n" * (megabytes * 500_000))


@tool
async def break_down(megabytes: int) -> None:
    """Crash with a long message.

    Args:
        megabytes: How long.
    """
    raise ValueError("x\n" * (megabytes * 500_000))


@tool
async def name_files(count: int, workspace: Workspace) -> str:
    """Name files that are not there.

    Args:
        count: How many.
    """
    return "/workspace/ab " * count


class _Lag:
    """The longest time that the event loop was blocked, without time in which it had no processor."""

    def __init__(self) -> None:
        self.worst = 0.0
        self.task: asyncio.Task[None] | None = None

    async def watch(self) -> None:
        """Look every 5 ms."""
        place = Path(f"/proc/self/task/{threading.get_native_id()}/schedstat")
        while True:
            began, starved = time.monotonic(), _read_starved(place)
            await asyncio.sleep(0.005)
            late = time.monotonic() - began - 0.005 - (_read_starved(place) - starved)
            self.worst = max(self.worst, late)


def _read_starved(place: Path) -> float:
    return int(place.read_text().split()[1]) / 1e9 if place.exists() else 0.0


_LAG = _Lag()


@tool
async def lag() -> float:
    """Say for how many seconds the event loop was held up at most since this was last asked."""
    if _LAG.task is None:
        _LAG.task = asyncio.create_task(_LAG.watch())
    worst, _LAG.worst = _LAG.worst, 0.0
    return worst
