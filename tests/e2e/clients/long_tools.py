"""Tools that last until somebody says so, and such whose arguments have many digits."""

import asyncio
from collections import defaultdict
from typing import Any

from sidecall import ToolOutputImage, tool

_ENDS: dict[str, asyncio.Event] = defaultdict(asyncio.Event)


@tool
async def hold(key: str) -> str:
    """Hold until `release` is called with this key."""
    await _ENDS[key].wait()
    return f"{key} was released."


@tool
async def release(key: str) -> str:
    """Let `hold` go on."""
    _ENDS[key].set()
    return key


@tool(requires_approval=True)
async def hold_for_person(key: str) -> str:
    """Hold until `release` is called with this key, once a person has approved it."""
    await _ENDS[key].wait()
    return f"{key} was released."


@tool(response_format="content_and_artifact")
async def repeat_number(number: int, among: list[int | dict[str, int]] | None = None) -> tuple[str, Any]:
    """Repeat a number, in words and as a value."""
    return f"{number} {among}", {"number": number, "half": 0.5, "text": f"{number}"}


@tool
async def repeat_any(value: Any) -> str:
    """Repeat a value."""
    return repr(value)


@tool
async def weigh(mass: float) -> float:
    """Repeat a mass."""
    return mass


@tool
async def paint() -> ToolOutputImage:
    """Paint a picture."""
    return ToolOutputImage(image_url="data:image/png;base64,iVBORw0KGgo=")
