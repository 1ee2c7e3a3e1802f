"""Heartbeats: which of the servers that share a database are alive."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

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
        self._checks_after = 0.0
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
            self._checks_after = now + self._silence
        self._spoke_at = now

    async def find_silence(self) -> float | None:
        """Return the time (Unix seconds) before which a server's last heartbeat counts as a crash.

        None while others may have had no chance to write one.

        Raises:
            StoreUnavailable: It cannot be found out.
        """
        now = self._clock()
        if not self._is_heard(now) or now < self._checks_after:
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


_UNKNOWN = "0"
_DEAD = frozenset("ZX")
# Of what the system says about a process, behind its name: its state, and when it was started.
_STATE, _STARTED = 0, 19


def name_worker() -> str:
    """Return a name by which others can check whether this process is alive."""
    return f"{os.getpid()}-{_find_start(os.getpid())}-{uuid4().hex}"


def is_living(name: str) -> bool:
    """Return whether the process with this name is alive; False for names of another kind."""
    pid, _, rest = name.partition("-")
    if not (pid.isdigit() and rest):
        return False
    try:
        os.kill(int(pid), 0)
    except OSError:  # Also where it is another user's, which no worker is.
        return False
    return rest.partition("-")[0] == _find_start(int(pid))


def _find_start(pid: int) -> str | None:
    """Return the start time of a process, which distinguishes it from a later one with its id; None if it has ended."""
    try:
        said = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except FileNotFoundError:
        return None if Path("/proc/self/stat").exists() else _UNKNOWN
    except OSError:
        return None
    return None if said[_STATE] in _DEAD else said[_STARTED]


class WorkerHeartbeat(Heartbeat):
    """Knows which workers are alive: a slow one never counts as crashed, a killed one does at once."""

    async def find_silence(self) -> float | None:
        """Return the time before which a worker's last heartbeat counts as a crash; live ones are renewed first.

        Raises:
            StoreUnavailable: It cannot be found out.
        """
        now = await self.tell_time()
        rows = await self._database.read("find_servers")
        seen = {self._owner: 0.0} | {owner: seen_at for owner, _, seen_at in rows}
        for owner, seen_at in seen.items():
            if not is_living(owner):
                await self._database.write("forget_server", owner)
            elif seen_at < now - self._silence / 2:
                await self._database.write("register_server", owner, now)
        return now - self._silence
