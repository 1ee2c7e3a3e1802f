"""Ask all who are on the bus how they are."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.bus import ALL, Bus, BusAway
from sidecall.features.processes.child import Message

# Seconds for the bus to be there, and for all to answer.
_CONNECT = 5.0
_ANSWER = 0.7


class BusClient:
    """A process that only asks."""

    def __init__(self, access: BusAccess) -> None:
        """Prepare.

        Raises:
            KeysUnusable: The library that encrypts is not installed.
        """
        self.heard: dict[str, dict[str, Any]] = {}
        self._up = asyncio.Event()
        self.bus = Bus(access, self._hear, self._up.set)

    @asynccontextmanager
    async def connected(self) -> AsyncIterator[None]:
        """Be on the bus within the body.

        Raises:
            BusAway: It cannot be reached.
        """
        self.bus.open()
        try:
            try:
                async with asyncio.timeout(_CONNECT):
                    await self._up.wait()
            except TimeoutError:
                raise BusAway("The bus that SIDECALL_FLEET names does not answer.") from None
            yield
        finally:
            await self.bus.close()

    async def ask(self) -> None:
        """Ask all, and wait for their answers."""
        self.bus.send(ALL, "who", None, {"all": True})
        await asyncio.sleep(_ANSWER)

    def _hear(self, sender: str, said: Message) -> None:
        if said.kind == "here":
            self.heard[sender] = said.content


async def find_all(access: BusAccess) -> dict[str, list[dict[str, Any]]]:
    """Return what workers and servers say of themselves, by their names.

    Raises:
        BusAway: The bus cannot be reached.
    """
    client = BusClient(access)
    async with client.connected():
        await client.ask()
    heard = sorted(client.heard.values(), key=lambda it: str(it["name"]))
    return {
        "workers": [it for it in heard if it["role"] == "worker"],
        "servers": [it for it in heard if it["role"] == "gateway"],
    }


async def ask_to_drain(access: BusAccess, name: str) -> bool:
    """Ask a worker to leave; return False if there is none of this name.

    Raises:
        BusAway: The bus cannot be reached.
    """
    client = BusClient(access)
    async with client.connected():
        await client.ask()
        if not any(it["role"] == "worker" and it["name"] == name for it in client.heard.values()):
            return False
        client.bus.send(ALL, "drain", None, name)
    return True
