"""Wait for what a tool returns to be complete."""

import inspect
from typing import Any


async def settled(result: Any) -> Any:
    """Await an awaitable and drain an async generator, as often as one comes out of the other."""
    while inspect.isawaitable(result):
        result = await result
    if inspect.isasyncgen(result):
        return _joined([part async for part in result])
    return drained(result)


def drained(result: Any) -> Any:
    """Drain a generator; the parts of a text become one text, any others a list."""
    return _joined(list(result)) if inspect.isgenerator(result) else result


def _joined(parts: list[Any]) -> Any:
    return "".join(parts) if parts and all(isinstance(part, str) for part in parts) else parts
