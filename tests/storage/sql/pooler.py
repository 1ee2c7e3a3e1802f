"""PgBouncer before a PostgreSQL server of the tests' own, where this machine has it."""

import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest

from tests.kit.postgres import Cluster, as_owner, find_free_port
from tests.kit.waiting import PATIENCE

_MOMENT = 0.05
# Debian's is not on everybody's path.
_PLACES = "/usr/sbin:/usr/local/sbin:/usr/local/bin:/usr/bin"
_SETTINGS = """
[databases]
* = host=127.0.0.1 port={far}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {near}
unix_socket_dir =
auth_type = trust
auth_file = {users}
pool_mode = {mode}
"""


@dataclass
class Pooler:
    """One that can be stopped and started again, at the same port, in another mode perhaps."""

    cluster: Cluster
    port: int = field(default_factory=find_free_port)
    _process: subprocess.Popen[bytes] | None = None

    def wrap(self, url: str) -> str:
        """Return the address of a database of the cluster, reached through this."""
        return url.replace(f":{self.cluster.port}/", f":{self.port}/")

    def start(self, mode: Literal["session", "transaction"]) -> None:
        """Start, and return when it answers."""
        program = _find_program()
        folder = self.cluster.folder
        users, settings = folder / "users.txt", folder / "pooler.ini"
        users.write_text('"sidecall" "open sesame"\n')
        settings.write_text(_SETTINGS.format(far=self.cluster.port, near=self.port, users=users, mode=mode))
        self._process = subprocess.Popen([program, "-q", settings], cwd=folder, stderr=subprocess.DEVNULL, **as_owner())
        limit = time.monotonic() + PATIENCE
        ready = [str(self.cluster.programs / "pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        while subprocess.run(ready).returncode != 0:
            assert self._process.poll() is None
            assert time.monotonic() < limit
            time.sleep(_MOMENT)

    def stop(self) -> None:
        """End it and all its connections."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None


def _find_program() -> Path:
    found = shutil.which("pgbouncer") or shutil.which("pgbouncer", path=_PLACES)
    if found is None:
        pytest.skip("PgBouncer is not installed")
    return Path(found)
