"""Tools of durable calls, and requests for them."""

import asyncio
from collections import Counter
from typing import Any

import httpx

from sidecall import ToolException
from sidecall import tool as make_tool

RAN: Counter[str] = Counter()
GO: dict[str, asyncio.Event] = {}
ASYNC = {"Prefer": "respond-async"}


@make_tool
async def charge(order: str, fails: bool = False) -> str:
    """Charge an order.

    Args:
        order: Which.
        fails: Whether it fails.
    """
    RAN[order] += 1
    if fails:
        raise ToolException(f"no money for {order}")
    return f"charged {order} for the {RAN[order]}. time"


@make_tool
async def wait_for(name: str) -> str:
    """Wait until somebody says go.

    Args:
        name: For whom.
    """
    RAN[name] += 1
    await GO.setdefault(name, asyncio.Event()).wait()
    return f"{name} went"


@make_tool(requires_approval=True)
async def refund(order: str) -> str:
    """Refund an order.

    Args:
        order: Which.
    """
    RAN[order] += 1
    return f"refunded {order}"


@make_tool(requires_approval=True)
async def refund_slowly(order: str) -> str:
    """Refund an order once somebody says go.

    Args:
        order: Which.
    """
    RAN[order] += 1
    await GO.setdefault(order, asyncio.Event()).wait()
    return f"refunded {order}"


@make_tool
async def exit_now() -> None:
    """End the program."""
    raise SystemExit(3)


@make_tool
async def cancel_itself() -> None:
    """Leave as if somebody had cancelled it."""
    raise asyncio.CancelledError


@make_tool(background=True)
async def index(name: str) -> str:
    """Index something.

    Args:
        name: What.
    """
    return f"indexed {name}"


@make_tool(idempotency="tool_call_id")
async def ship(order: str) -> str:
    """Ship an order.

    Args:
        order: Which.
    """
    RAN[order] += 1
    return f"shipped {order}"


async def send(client: httpx.AsyncClient, tool: str, *, id: str = "call_1", headers: Any = None, **args: Any) -> Any:
    """Send a call."""
    return await client.post("/tool_calls", json={"name": tool, "args": args, "id": id}, headers=headers)


def key(text: str) -> dict[str, str]:
    """Make the header of a key."""
    return {"Idempotency-Key": text}
