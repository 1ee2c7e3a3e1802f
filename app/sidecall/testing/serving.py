"""Run a server, or its application alone, inside of the process of a test."""

import asyncio
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import uvicorn

from sidecall.composition.lifespan import read_patience
from sidecall.features.ledger.open_ledger import IN_MEMORY
from sidecall.http.backlog import Backlog
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.registry import Registry
from sidecall.loading.collect import collect_items, compile_items
from sidecall.loading.discovery import discover
from sidecall.main import create_app
from sidecall.server.connection_limits import Connection
from sidecall.server.graceful_shutdown import Server
from sidecall.server.request_reader import RequestRoom, room_for
from sidecall.server.watchdog import Watchdog
from sidecall.settings import Settings
from sidecall.testing.bridge import BackgroundLoop, BridgedApp, bridging

_PATIENCE = 60.0
_MOMENT = 0.005
# A test that has ended waits for no call.
_DRAIN = 1.0


@dataclass(frozen=True)
class RunningServer:
    """A server that listens; as a text it is its address."""

    host: str
    port: int

    @property
    def url(self) -> str:
        """Its address, without a slash at the end."""
        return f"http://{self.host}:{self.port}"

    def __str__(self) -> str:
        return self.url

    def __add__(self, path: str) -> str:
        """Return the address of a path, as in `server + "/tools"`."""
        return f"{self.url}{path}"


@contextmanager
def run_server(tools: Any = None, **settings: Any) -> Iterator[RunningServer]:
    """Serve tools over HTTP on a free port of this machine, from a thread of this process.

    What a test changes in the process, such as variables of the environment and mocks, holds in the server, too.

    Args:
        tools: Places as `sidecall serve --tools` takes them, tools, toolkits and modules, one or a list; None for what
            `sidecall serve` would find.
        settings: Settings by their names in lower case, such as `tool_timeout=5`, before those of the environment.

    Raises:
        DefinitionError: A tool cannot be offered.
        ValidationError: A setting does not exist, or is wrong.
        RuntimeError: The server does not start; the log says why.
    """
    with _arranging(tools, {"port": 0, **settings}) as (chosen, registry):
        lifecycle = Lifecycle()
        room = RequestRoom(chosen.max_body_bytes_in_flight, chosen.max_body_bytes, Backlog(chosen.max_unread_bytes))
        app = create_app(chosen, registry, lifecycle, room.unread)
        config = uvicorn.Config(
            app, host=chosen.host, port=chosen.port, http=Connection, ws="none", log_config=None, server_header=False
        )
        most = room_for(chosen.max_connections)
        server = _InProcess(config, lifecycle, read_patience(chosen), most, room, lambda: None)
        with running(server) as port:
            yield RunningServer(chosen.host, port)


@contextmanager
def run_app(tools: Any = None, **settings: Any) -> Iterator[BridgedApp]:
    """Start the ASGI application of a server without a socket, for `httpx.ASGITransport` and others.

    Arguments and errors are those of `run_server`; each host name is taken, unless `hosts` says otherwise.
    """
    with _arranging(tools, {"hosts": ("*",), **settings}) as (chosen, registry):
        app = create_app(chosen, registry)
        with bridging(app, app.router.lifespan_context(app)) as bridged:
            yield bridged


@contextmanager
def running(server: uvicorn.Server) -> Iterator[int]:
    """Run a server in a thread, and yield its port once it listens.

    Raises:
        RuntimeError: It does not start.
    """
    background = BackgroundLoop("sidecall-testing-server")
    serving = asyncio.run_coroutine_threadsafe(server.serve(), background.loop)
    try:
        while not server.started:
            if serving.done():
                raise RuntimeError("The server does not start; its log says why.") from serving.exception()
            time.sleep(_MOMENT)
        yield server.servers[0].sockets[0].getsockname()[1]
        server.should_exit = True
        serving.result(_PATIENCE)
    finally:
        background.close()


class _NoWatchdog(Watchdog):
    """Watches nothing: a loop that stands still stands in a debugger, and the process is the test's."""

    def start(self) -> None:
        """Do nothing."""

    def beat(self) -> None:
        """Do nothing."""

    def rest(self) -> None:
        """Do nothing."""

    def end_within(self, seconds: float, code: int) -> None:
        """Do nothing."""


class _InProcess(Server):
    """The product's server, which never ends the process that it runs in."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._watchdog = _NoWatchdog(self._patience.stuck_after)


@contextmanager
def _arranging(tools: Any, given: dict[str, Any]) -> Iterator[tuple[Settings, Registry]]:
    """Choose settings that leave nothing behind, and load the tools."""
    with tempfile.TemporaryDirectory(prefix="sidecall-testing-", ignore_cleanup_errors=True) as folder:
        own = {"store": IN_MEMORY, "workspace_dir": Path(folder), "drain_grace": 0.0, "drain_timeout": _DRAIN}
        chosen = Settings(**{**own, **given})
        yield chosen, load_tools(tools, chosen)


def load_tools(tools: Any, settings: Settings) -> Registry:
    """Load tools from places and objects; None stands for those of the settings.

    Raises:
        DefinitionError: A place does not exist, or a tool cannot be offered.
        TypeError: Something is no tool, and holds none.
    """
    if tools is None:
        return Registry(discover(settings.places, use_entry_points=settings.entry_points))
    if isinstance(tools, Registry):
        return tools
    given = tools if isinstance(tools, list | tuple) else [tools]
    return Registry(tool for item in given for tool in _load(item))


def _load(item: Any) -> list[CompiledTool]:
    if isinstance(item, str | Path):
        return discover([str(item)])
    items = collect_items(item)
    if not items:
        raise TypeError(f"{item!r:.200} is neither a place of tools nor a tool.")
    return compile_items(items)
