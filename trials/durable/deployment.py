"""A store, and servers on it that are killed and started again."""

import signal
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.kit.postgres import Cluster, find_programs, running
from tests.kit.servers import Server, end, start

_TOOLS = "trials/served/durable.py"


@dataclass
class Deployment:
    """Where servers keep their calls, and tools their effects."""

    kind: str
    store: str
    folder: Path
    cluster: Cluster | None = None
    servers: list[Server] = field(default_factory=list)
    tools: str = _TOOLS

    @property
    def effects(self) -> Counter[str]:
        """How often each mark was written."""
        file = self.folder / "effects"
        return Counter(file.read_text().splitlines()) if file.exists() else Counter()

    def start(self, **settings: str) -> Server:
        """Start one more server."""
        folder = Path(tempfile.mkdtemp(dir=self.folder))
        wanted = {
            "SIDECALL_STORE": self.store,
            "SIDECALL_TRIAL_EFFECTS": str(self.folder / "effects"),
            "SIDECALL_DRAIN_TIMEOUT": "1",
            **settings,
        }
        self.servers.append(start(folder, "--tools", self.tools, environment=wanted))
        return self.servers[-1]

    @property
    def events(self) -> int:
        """How far an endless fuse had burnt when the last answer was written."""
        return int((self.folder / "effects.events").read_text().split()[-1])

    def kill(self, server: Server) -> None:
        """End a server as a crash of the machine would, unless it has ended."""
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
        self.servers.remove(server)

    def stop(self) -> None:
        """End all servers."""
        for server in self.servers:
            end(server.process)
        self.servers.clear()


@contextmanager
def homes(*kinds: str) -> Iterator[list[Deployment]]:
    """Give an empty store of each kind, without PostgreSQL where this machine has none."""
    with ExitStack() as stack:
        made: list[Deployment] = []
        for kind in kinds:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            if kind == "memory":
                made.append(Deployment(kind, "memory://", folder))
            elif kind == "sqlite":
                made.append(Deployment(kind, f"sqlite:///{folder / 'ledger.db'}", folder))
            elif programs := find_programs():
                cluster = stack.enter_context(running(programs))
                made.append(Deployment(kind, cluster.address(cluster.make_database()), folder, cluster))
        for home in made:
            stack.callback(home.stop)
        yield made
