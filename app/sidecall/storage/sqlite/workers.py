"""Which of the workers that share a file are alive: they run on one machine, so their processes show it."""

import os
from pathlib import Path
from uuid import uuid4

from sidecall.storage.heartbeat import Heartbeat

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
