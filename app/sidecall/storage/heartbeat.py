"""Heartbeats: which of the servers that share a database are alive."""

import time
from collections.abc import Callable

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.database import Database

# Seconds without a sign of life after which a server counts as ended, and how many signs it could have given in them.
SILENCE = 10.0
_SIGNS = 5


class Heartbeat:
    """Records that this server is alive, and decides which others count as crashed.

    All times are the database's, so that clock differences do no harm. A server wrongly taken for crashed finds that
    its calls have an end, or another attempt, and its writes are refused.
    """

    def __init__(
        self, database: Database, owner: str, silence: float = SILENCE, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Write heartbeats for a server; `clock` counts the seconds in which others could have done so too."""
        self._database = database
        self._owner = owner
        self._silence = silence
        self._clock = clock
        self._spoke_at: float | None = None
        self._judges_after = 0.0
        self.others = 0  # The known number of other servers that are alive.
        self._ahead = 0.0  # Seconds by which the clock of this server is ahead of that of the database.

    @property
    def pause(self) -> float:
        """The seconds between two heartbeats."""
        return self._silence / _SIGNS

    async def beat(self) -> None:
        """Write a heartbeat.

        Raises:
            StoreUnavailable: It could not be written.
        """
        try:
            await self._database.write("register_server", self._owner, await self.tell_time())
        except StoreUnavailable:
            self._spoke_at = None
            raise
        now = self._clock()
        if not self._is_heard(now):
            # At the start, after a delay or an outage, the others get time for a heartbeat.
            self._judges_after = now + self._silence
        self._spoke_at = now

    async def find_silence(self) -> float | None:
        """Return the time (Unix seconds) before which a server's last heartbeat counts as a crash.

        None while others may have had no chance to write one.

        Raises:
            StoreUnavailable: It cannot be found out.
        """
        now = self._clock()
        if not self._is_heard(now) or now < self._judges_after:
            return None
        return await self.tell_time() - self._silence

    async def count_others(self) -> None:
        """Count the other servers that are alive.

        Raises:
            StoreUnavailable: It cannot be found out.
        """
        alive_since = self.estimate_time() - self._silence
        self.others = (await self._database.read("count_other_servers", alive_since, self._owner))[0][0]

    async def tell_time(self) -> float:
        """Return the database's time, in Unix seconds, and store its offset to this clock.

        Raises:
            StoreUnavailable: It does not answer.
        """
        told = float((await self._database.read("tell_time"))[0][0])
        self._ahead = time.time() - told
        return told

    def estimate_time(self) -> float:
        """Return the database's approximate time, from the last offset."""
        return time.time() - self._ahead

    def _is_heard(self, now: float) -> bool:
        """Return whether this server's last heartbeat is recent."""
        return self._spoke_at is not None and now - self._spoke_at <= self._silence / 2
