"""Servers of one database that are on the same bus: the end of one is seen there before its silence in the database."""

import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from sidecall.kernel.core.overload import StoreUnavailable

logger = logging.getLogger("sidecall.fleet")

# Looks after which one that was not heard is asked for; and those after which it is forgotten.
_LATE, _FORGET = 6, 60
# Seconds between two looks.
PAUSE = 0.25


class EndsServers(Protocol):
    """What servers keep of each other; `owner` is the name of this one."""

    owner: str

    async def end_server(self, owner: str) -> bool:
        """Note that a server has ended; return False where it has said something just now.

        Raises:
            StoreUnavailable: It cannot be noted.
        """


@dataclass(slots=True)
class _Peer:
    owner: str
    misses: int = 0


class Peers:
    """The other servers on the bus.

    One counts as ended when nothing listens at its place of the bus any more and its heartbeat in the database is late.
    A server that only stands still keeps its place, and one whose bus is away its heartbeat.
    """

    def __init__(self, store: EndsServers, is_there: Callable[[str], Awaitable[bool]]) -> None:
        """Take where servers are kept, and what tells whether a process listens at its place of the bus."""
        self.owner = store.owner
        self._store = store
        self._is_there = is_there
        self._peers: dict[str, _Peer] = {}

    def note(self, sender: str, owner: str) -> None:
        """Note that a server was heard, and its name in the database."""
        if owner != self.owner:
            self._peers.setdefault(sender, _Peer(owner)).misses = 0

    async def look(self) -> None:
        """Find those that are late, and note the end of those that are gone."""
        for sender, peer in list(self._peers.items()):
            peer.misses += 1
            if peer.misses >= _FORGET:
                del self._peers[sender]
            elif peer.misses >= _LATE and not await self._is_there(sender):
                with suppress(StoreUnavailable):
                    if await self._store.end_server(peer.owner):
                        logger.warning("the server %s has ended, and its remembered calls go on elsewhere", sender[:8])
                        self._peers.pop(sender, None)
