"""Offer the tools of all configured MCP servers, with our own."""

import asyncio
import hashlib
import logging
import os
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sidecall.feature import Start
from sidecall.features.mcp_client.connection_supervisor import UpstreamServer
from sidecall.features.mcp_client.link import LinkBounds, LinkChanges, ListedTool
from sidecall.features.mcp_client.mcp_json import InvalidMcpServers, UpstreamEntry, read_entries
from sidecall.features.mcp_client.pins import InvalidPins, PinFile, Pins, ToolsNotWaiting
from sidecall.features.mcp_client.tools import make_remote_tool
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.registry import Registry

logger = logging.getLogger("sidecall")

# Loaded when a server is configured, since it takes a while and needs the extra. What the client itself loads with the
# first structured result is loaded too, since it would block the loop.
_LOADED = (
    "sidecall.features.mcp_client.sdk.connecting",
    "sidecall.features.mcp_client.sdk.process_reapers",
    "jsonschema",
    "referencing",
)

_PACKAGE = "mcp"
# What the registry knows the tools by.
_SOURCE = "MCP servers"
# Seconds for servers to shut down, and between two checks of the pins file.
_PATIENCE = 10.0

_LOOK = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamSettings:
    """Bounds, with defaults, and the file of pins; without one tools may change."""

    bounds: LinkBounds | None = None
    connect_timeout: float = 30.0
    pins: Path | None = None


@dataclass(frozen=True, slots=True)
class _Made:
    server: UpstreamServer
    name: str
    listed: ListedTool
    tool: CompiledTool | None


class Upstream:
    """The configured servers, and the tools that are offered now."""

    def __init__(
        self,
        entries: Mapping[str, UpstreamEntry],
        registry: Registry,
        settings: UpstreamSettings | None = None,
    ) -> None:
        self._settings = settings or UpstreamSettings()
        self._registry = registry
        self._sdk: Any = None
        self._warden: Any = None
        self._news = asyncio.Event()
        self._settled = asyncio.Event()
        self._made: dict[tuple[str, str], _Made] = {}
        self._pins = None if self._settings.pins is None else PinFile(self._settings.pins)
        self._stamp: object = None
        self._work: list[asyncio.Task[None]] = []
        self._tending: dict[UpstreamServer, asyncio.Task[None]] = {}
        # Servers that are left, each until its running calls have ended.
        self._leaving: set[asyncio.Task[None]] = set()
        self._on_tools: Callable[[], object] = lambda: None
        # What waits for an operator, by server.
        self.waiting: dict[str, frozenset[str]] = {}
        # Accepted descriptions that replace the present ones, by server and tool.
        self._words: dict[str, dict[str, str]] = {}
        # How many tools are offered, by server.
        self.offered: dict[str, int] = dict.fromkeys(entries, 0)
        self._is_open = False
        self.servers = [self._make_server(name, entry) for name, entry in entries.items()]

    def _make_server(self, name: str, entry: UpstreamEntry) -> UpstreamServer:
        timeout = self._settings.connect_timeout
        return UpstreamServer(name, entry, partial(self._open_link, name, entry), self.rejoin, timeout)

    def rejoin(self, _: object = None) -> None:
        """Schedule a new computation of the offered tools: a server's have changed, or our own."""
        self._settled.clear()
        self._news.set()

    async def open(self, on_tools: Callable[[], object]) -> None:
        """Start to connect; `on_tools` is called with each new set of tools."""
        self._on_tools, self._is_open = on_tools, True
        if self.servers:
            self._begin()

    def _begin(self) -> None:
        self._work = [asyncio.create_task(self._run()), asyncio.create_task(self._join_again_and_again())]

    def change(self, entries: Mapping[str, UpstreamEntry]) -> None:
        """Take other servers, on the event loop; one whose entry is as before keeps its connection.

        The tools of one that is left are offered no more, and its connection ends after the last running call.
        """
        kept = {server.name: server for server in self.servers if entries.get(server.name) == server.entry}
        for server in self.servers:
            if server.name not in kept:
                self._leave(server)
        self.servers[:] = [kept.get(name) or self._make_server(name, entry) for name, entry in entries.items()]
        self.offered.update({name: 0 for name in entries if name not in kept})
        if self.servers and not self._work and self._is_open:
            self._begin()
        elif self._sdk is not None:
            self._tend()
        self.rejoin()

    def _leave(self, server: UpstreamServer) -> None:
        for known in (self.waiting, self._words, self.offered):
            known.pop(server.name, None)
        self._made = {key: made for key, made in self._made.items() if key[0] != server.name}
        task = self._tending.pop(server, None)
        if task is None:
            server.end()
            return
        leaving = asyncio.create_task(self._end_when_idle(server, task))
        self._leaving.add(leaving)
        leaving.add_done_callback(self._leaving.discard)

    @staticmethod
    async def _end_when_idle(server: UpstreamServer, task: asyncio.Task[None]) -> None:
        try:
            await server.wait_until_idle()
            server.end()
            if server.is_reached:
                await asyncio.wait([task], timeout=_PATIENCE)
        finally:
            server.end()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    @staticmethod
    def read_entries(setting: str) -> "dict[str, UpstreamEntry]":
        """Read what names servers, for `change`.

        Raises:
            InvalidMcpServers: It does not.
        """
        return read_servers(setting)

    async def read_pins(self) -> Pins:
        """Read what was accepted, and what waits; nothing where tools are not pinned.

        Raises:
            InvalidPins: The file cannot be read.
        """
        return Pins() if self._pins is None else await SERVER.run(self._pins.read)

    async def accept(self, server: str, tools: Mapping[str, str | None] | None, *, schema_only: bool) -> list[str]:
        """Accept waiting tools of a server, offer them, and return their names.

        Raises:
            ToolsNotWaiting: One does not wait, or not as it was seen; none is accepted then.
            InvalidPins: The file cannot be read or written.
        """
        if self._pins is None:
            raise ToolsNotWaiting(())
        taken: list[str] = []

        def change(pins: Pins) -> None:
            taken.extend(pins.accept_all(server, tools, schema_only=schema_only))

        await SERVER.run(self._pins.change, change)
        self.rejoin()
        return taken

    async def wait_until_tried(self, seconds: float) -> None:
        """Wait until each server has been tried and its tools are offered, up to so long."""
        if not self.servers:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for server in self.servers:
                    await server.tried.wait()
                await self._settled.wait()

    async def close(self) -> None:
        """Close the connections, and end the started processes."""
        for server in self.servers:
            server.end()
        work, self._work = self._work, []
        if not work:
            return
        for server, task in self._tending.items():
            if not server.is_reached:
                task.cancel()
        if self._tending:
            await asyncio.wait(self._tending.values(), timeout=_PATIENCE)
        ending = [*self._tending.values(), *work, *self._leaving]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)
        if self._warden is not None:
            await SERVER.run(self._warden.close)

    async def _run(self) -> None:
        try:
            self._sdk, wardens, *_ = await SERVER.run(lambda: [import_module(name) for name in _LOADED])
            self._warden = wardens.ProcessReaper()
        except Exception:
            logger.exception("no MCP server can be connected to: the official client cannot be loaded")
            return
        self._tend()

    def _tend(self) -> None:
        for server in self.servers:
            if server not in self._tending:
                self._tending[server] = asyncio.create_task(server.run())

    def _open_link(self, name: str, entry: UpstreamEntry, news: LinkChanges, is_legacy: bool) -> Any:
        bounds = self._settings.bounds or LinkBounds()
        return self._sdk.open_link(name, entry, bounds, news, self._warden, is_legacy=is_legacy)

    async def _join_again_and_again(self) -> None:
        while True:
            try:
                async with asyncio.timeout(None if self._pins is None else _LOOK):
                    await self._news.wait()
            except TimeoutError:
                assert self._pins is not None
                if self._pins.stamp == self._stamp:
                    continue
            try:
                await self._join()
            except Exception:
                logger.exception("the tools of MCP servers cannot be offered")
            if not self._news.is_set():
                self._settled.set()

    async def _join(self) -> None:
        self._news.clear()  # Cleared first, so that changes during the work are not missed.
        listed = [(server, server.listed) for server in self.servers]
        names = name_remote_tools(
            {server.name: (server.entry.prefix, [tool.name for tool in tools]) for server, tools in listed},
            self._registry.own_names,
        )
        joined: list[CompiledTool] = []
        for server, tools in listed:
            if server.is_reached:
                await self._compare(server, tools)
            offered = await self._make(server, tools, names) if server.is_reached else []
            self.offered[server.name] = len(offered)
            joined.extend(offered)
        if [id(tool) for tool in joined] != [id(tool) for tool in self._registry.list_source(_SOURCE)]:
            self._registry.put_source(_SOURCE, joined, gives_way=True)
            self._on_tools()
        for server, tools in listed:
            server.confirm(tools)
        for name in self.offered.keys() - {server.name for server in self.servers}:
            del self.offered[name]  # It was left meanwhile.

    async def _compare(self, server: UpstreamServer, tools: tuple[ListedTool, ...]) -> None:
        """Find out which tools have to wait for an operator."""
        if self._pins is None:
            return
        found: list[frozenset[str]] = []
        try:
            pins = await SERVER.run(self._pins.change, lambda pins: found.append(pins.compare(server.name, tools)))
            waits = found[0]
            self._words[server.name] = pins.list_kept_words(server.name)
        except InvalidPins as error:
            logger.error("no tools of MCP server %s are offered: %s", server.name, error)
            waits = frozenset(tool.name for tool in tools)
        self._stamp = self._pins.stamp
        if waits - self.waiting.get(server.name, frozenset()):
            logger.warning(
                "tools of MCP server %s have changed and wait: %s; look with `sidecall mcp-servers list`, then "
                "`sidecall mcp-servers accept %s`",
                server.name,
                ", ".join(sorted(waits)),
                server.name,
            )
        self.waiting[server.name] = waits

    async def _make(
        self,
        server: UpstreamServer,
        tools: tuple[ListedTool, ...],
        names: Mapping[tuple[str, str], str],
    ) -> list[CompiledTool]:
        """Make tools, reusing those that have not changed."""
        waits = self.waiting.get(server.name, frozenset())
        found: list[CompiledTool] = []
        words = self._words.get(server.name, {})
        for said in tools:
            listed = replace(said, description=words[said.name]) if said.name in words else said
            key = server.name, listed.name
            made = self._made.get(key)
            if made is None or (made.server, made.name, made.listed) != (server, names[key], listed):
                # In a thread: a server may list schemas of any size.
                made = self._made[key] = await SERVER.run(_make, server, listed, names[key])
            if made.tool is not None and listed.name not in waits:
                found.append(made.tool)
        self._forget_others(server, tools)
        return found

    def _forget_others(self, server: UpstreamServer, tools: tuple[ListedTool, ...]) -> None:
        """Forget what was made of tools that it lists no more."""
        present = {tool.name for tool in tools}
        for key in [key for key in self._made if key[0] == server.name and key[1] not in present]:
            del self._made[key]


def _make(server: UpstreamServer, listed: ListedTool, name: str) -> _Made:
    tool = None
    try:
        tool = make_remote_tool(server.name, server.entry, listed, name, server.call)
    except DefinitionError as error:
        logger.warning("a tool of MCP server %s is not offered: %s", server.name, error.message)
    return _Made(server, name, listed, tool)


def make_upstream(start: Start) -> Upstream:
    """Read the configured servers; connections are made when the server runs.

    Raises:
        InvalidMcpServers: The setting is invalid, or the extra is not installed.
        InvalidPins: The file of what was accepted cannot be read.
    """
    settings = start.server
    entries, pins = read_servers(settings.mcp_servers), settings.mcp_pins_file if settings.mcp_pin else None
    if entries and pins is not None:
        PinFile(pins).read()
    bounds = LinkBounds(settings.max_result_bytes, settings.mcp_max_tools)
    wanted = UpstreamSettings(bounds=bounds, connect_timeout=settings.mcp_connect_timeout, pins=pins)
    return Upstream(entries, start.registry, wanted)


def read_servers(setting: str) -> dict[str, UpstreamEntry]:
    """Read the configured servers, by name.

    Raises:
        InvalidMcpServers: The setting is invalid, or the extra is not installed.
    """
    entries = read_entries(setting, os.environ)
    if entries and find_spec(_PACKAGE) is None:
        raise InvalidMcpServers("SIDECALL_MCP_SERVERS needs an extra: pip install 'sidecall[mcp]'")
    return entries


_MOST = 64

_HASH = 8

_FOREIGN = re.compile(r"[^a-zA-Z0-9_-]")

# A server's tool names, and whether they are prefixed with its own name.
NamedTools = tuple[bool, Iterable[str]]


def name_remote_tools(servers: Mapping[str, NamedTools], taken: Iterable[str]) -> dict[tuple[str, str], str]:
    """Map server and tool names to names here.

    A name that is too long or taken gets a hash suffix; earlier servers keep their names.
    """
    known = set(taken)
    given: dict[tuple[str, str], str] = {}
    for server, (is_prefixed, tools) in servers.items():
        for tool in tools:
            name = _clean(f"{server}__{tool}" if is_prefixed else tool)
            if len(name) > _MOST or not name or name in known:
                name = _mark(name, server, tool)
            known.add(name)
            given[server, tool] = name
    return given


def _clean(name: str) -> str:
    return _FOREIGN.sub("_", name)


def _mark(name: str, server: str, tool: str) -> str:
    digits = hashlib.sha256(f"{server}\0{tool}".encode()).hexdigest()[:_HASH]
    return f"{name[: _MOST - _HASH - 1]}_{digits}"
