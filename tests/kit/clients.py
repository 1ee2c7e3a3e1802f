"""Clients of an application in this process: what the fixture `make_client` gives, and what they ask."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import httpx

MakeClient = Callable[..., Awaitable[httpx.AsyncClient]]


async def send_together(client: httpx.AsyncClient, call: Any, count: int) -> list[int]:
    """Send a call so many times at once, and return the status of each answer."""
    answers = await asyncio.gather(*(client.post("/tool_calls", json=call) for _ in range(count)))
    return [answer.status_code for answer in answers]
