"""A fleet of real processes: servers and workers that are on one bus."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from bench.environments import ROOT
from bench.servers import plain_environment
from tests.kit.forked import forking, run_sidecall
from tests.kit.nats import Broker, running_broker
from tests.kit.servers import CLIENT, Server, choose_launch, end, start
from tests.kit.waiting import PATIENCE

KEY = "c2lkZWNhbGwgZmxlZXQga2V5IG9mIDMyIGJ5dGVzISE="
_PROBES = re.compile(r"probes at http://127\.0\.0\.1:(\d+)")


@dataclass
class Fleet:
    """Starts servers and workers that are on one bus, and ends them."""

    bus: Broker
    folder: Path
    tools: Path
    key: str | None = KEY
    started: list[Server] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        """What all of them are told."""
        key = {} if self.key is None else {"SIDECALL_FLEET_KEY": self.key}
        return {"SIDECALL_FLEET": self.bus.url, **key}

    def serve(self, *arguments: str, tools: Path | None = None, **settings: str) -> Server:
        """Start a server."""
        environment = {**self.environment, "SIDECALL_QUEUE_TIMEOUT": "20", **settings}
        server = start(self._make_folder(), "--tools", str(tools or self.tools), *arguments, environment=environment)
        self.started.append(server)
        return server

    def work(self, queue: str, *arguments: str, tools: Path | None = None, **settings: str) -> Server:
        """Start a worker, and return when its probes listen."""
        folder = self._make_folder()
        environment = {**plain_environment(), "SIDECALL_STORE": "memory://", **self.environment, **settings}
        given = ("worker", "--queue", queue, "--tools", str(tools or self.tools), "--port", "0", *arguments)
        process = choose_launch()(given, ROOT, environment, folder / "log")
        (folder / "log").touch()
        worker = Server(0, process.pid, "127.0.0.1", process, folder / "log")
        self.started.append(worker)
        found = _PROBES.search(worker.wait_until(lambda log: _PROBES.search(log) is not None))
        assert found is not None, worker.log
        self.started[-1] = replace(worker, port=int(found[1]))
        return self.started[-1]

    def ask(self, *arguments: str, **settings: str) -> str:
        """Run `sidecall` with these arguments on the bus, and return what it prints."""
        environment = {**plain_environment(), **self.environment, "COLUMNS": "200", **settings}
        done = run_sidecall(*arguments, cwd=self.folder, environment=environment)
        return done.stdout if done.returncode == 0 else f"{done.returncode}: {done.stderr}"

    def close(self) -> None:
        """End all."""
        for server in self.started:
            server.terminate()
        for server in self.started:
            end(server.process)

    def _make_folder(self) -> Path:
        made = self.folder / f"process-{len(self.started)}"
        made.mkdir()
        return made


@contextmanager
def fleet_of(tools: str) -> Iterator[Fleet]:
    """Give a bus, and what starts servers and workers with these tools; they are forked, so that they start quickly."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        bus = stack.enter_context(running_broker())
        stack.enter_context(forking(folder))
        file = folder / "fleet_tools.py"
        file.write_text(tools)
        fleet = Fleet(bus, folder, file)
        stack.callback(fleet.close)
        yield fleet


def call(server: Server, name: str, *, headers: dict[str, str] | None = None, **args: Any) -> httpx.Response:
    """Call a tool of a server."""
    body = {"name": name, "args": args, "id": "call_1"}
    return CLIENT.post(f"{server.url}/tool_calls", json=body, headers=headers)


def is_available(server: Server, name: str) -> bool:
    """Return whether a server says that there is a worker for a tool."""
    found: bool = CLIENT.get(f"{server.url}/tools/{name}").json()["available"]
    return found


def wait_for(holds: Callable[[], bool], seconds: float = PATIENCE) -> None:
    """Wait until something holds."""
    stop = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < stop
        time.sleep(0.02)
