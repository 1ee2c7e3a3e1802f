"""What a worker sends in its order, and sends again where the bus may have lost it."""

import logging
import time
from collections import deque

from sidecall.features.fleet.bus import Bus

logger = logging.getLogger("sidecall.fleet")

# Seconds for which answers are kept that the bus may have lost when it went away, and their bytes.
_KEEP = 5.0
_MOST_KEPT = 64 * 1024 * 1024


class Outbox:
    """Messages of tools to servers, for the event loop of the bus."""

    def __init__(self, bus: Bus) -> None:
        """Send by this connection."""
        self._bus = bus
        self._kept: deque[tuple[float, str, bytes]] = deque()
        # Servers that have not been heard since the bus was away, and may lack answers.
        self._owed: set[str] = set()

    def put(self, server: str, body: bytes, *, is_kept: bool = False) -> None:
        """Send a packed message; one that is kept is sent again if the bus may have lost it."""
        try:
            self._bus.send_packed(server, body)
        except ValueError as error:
            logger.error("an answer is not sent: %s", error)
            return
        if is_kept:
            self._keep(server, body)

    def note_return(self) -> None:
        """Note that the bus was away."""
        self._owed = {server for _, server, _ in self._kept}

    def note_heard(self, server: str) -> None:
        """Send once more what the bus may have lost, now that its reader is heard."""
        if server in self._owed:
            self._owed.discard(server)
            for _, reader, body in self._kept:
                if reader == server:
                    self.put(server, body)

    def _keep(self, server: str, body: bytes) -> None:
        now = time.monotonic()
        if len(body) <= _MOST_KEPT:
            self._kept.append((now, server, body))
        size = sum(len(it[2]) for it in self._kept) if len(body) > _MOST_KEPT // 100 else 0
        # While the bus is away, and until all readers were heard again, nothing is too old.
        oldest = now - _KEEP if self._bus.is_up and not self._owed else 0.0
        while self._kept and (self._kept[0][0] < oldest or size > _MOST_KEPT or len(self._kept) > 10_000):
            size -= len(self._kept.popleft()[2])
