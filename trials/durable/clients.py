"""Clients that resend with the same key until they have an answer."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.kit.servers import Server

PATIENCE = 90.0
ENDED = frozenset(("succeeded", "failed", "cancelled", "expired", "outcome_unknown"))


@dataclass
class Sent:
    """What one call got: its acknowledgement, the ends read later, and anything odd."""

    tool: str
    mark: str
    location: str = ""
    ends: list[dict[str, Any]] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)
    strange: list[str] = field(default_factory=list)


class Clients:
    """Clients of the server that is up at the moment."""

    def __init__(self, find: Callable[[], Server], lines: int = 40) -> None:
        self._find = find
        limits = httpx.Limits(max_connections=lines, max_keepalive_connections=lines)
        self.client = httpx.AsyncClient(trust_env=False, timeout=PATIENCE, limits=limits)
        self.refused = 0

    async def ask(self, method: str, path: str, **how: Any) -> httpx.Response:
        """Ask until there is an answer that is not about a server which ends or a store which is away."""
        until = time.monotonic() + PATIENCE
        while True:
            try:
                response = await self.client.request(method, f"{self._find().url}{path}", **how)
                if response.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                    return response
            except httpx.TransportError:
                pass
            self.refused += 1
            if time.monotonic() > until:
                raise TimeoutError(f"{method} {path} is not answered")
            await asyncio.sleep(0.1)

    async def send(self, sent: Sent, seconds: float, **headers: str) -> httpx.Response:
        """Send a call with its mark for a key."""
        call = {"name": sent.tool, "args": {"mark": sent.mark, "seconds": seconds}, "id": sent.mark}
        headers["Idempotency-Key"] = sent.mark
        response = await self.ask("POST", "/tool_calls", json=call, headers=headers)
        if response.headers.get("content-type") == "application/json":
            sent.location = f"/tool_calls/{response.json()['id']}"
        if response.status_code not in (httpx.codes.OK, httpx.codes.ACCEPTED):
            sent.strange.append(f"{response.status_code} {response.text[:200]}")
        if response.status_code == httpx.codes.OK:
            sent.answers.append(response.content)
        return response

    async def follow(self, sent: Sent) -> None:
        """Ask for a call that was accepted until it has ended, and once more."""
        until = time.monotonic() + PATIENCE
        while len(sent.ends) < 2:
            response = await self.ask("GET", sent.location, headers={"Prefer": "wait=5"})
            said = response.json()
            if response.status_code != httpx.codes.OK:
                sent.strange.append(f"{response.status_code} {response.text[:200]}")
                return
            if said["status"] in ENDED:
                sent.ends.append(said)
            elif time.monotonic() > until:
                sent.strange.append(f"still {said['status']}")
                return
