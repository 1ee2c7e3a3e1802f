"""Load tools, toolsets, MCP servers and the certificate again: all of them, or none where one is broken."""

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct, field
from pydantic import BaseModel, Field

from sidecall.features.reload.changes import Changes, compare, identify
from sidecall.features.toolsets.toolsets import ReadToolsets, Toolsets
from sidecall.kernel.concurrency.pools import SERVER
from sidecall.kernel.core.errors import DefinitionError, ReloadFailed, SidecallError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.results import hand_over
from sidecall.kernel.lifecycle import Replaceable
from sidecall.kernel.registry import Registry
from sidecall.loading.discovery import watched_folders
from sidecall.loading.file_watcher import Discarded, load_generation

if TYPE_CHECKING:
    from sidecall.features.mcp_client import upstream as _upstream

_Tools = list[CompiledTool]


class Generation:
    """The tools of one reload: loaded in a thread of their own, which keeps the modules until a decision.

    A file that hangs blocks neither other threads nor the shutdown.
    """

    def __init__(self, places: Sequence[str], use_entry_points: bool) -> None:
        """Name the places of tools, whose folders are loaded again."""
        self._places, self._use_entry_points = places, use_entry_points
        self._decided = threading.Event()
        self._is_taken = False
        self.tools: _Tools = []

    async def load(self, check: Callable[[_Tools], object]) -> str | None:
        """Load the tools, and return why they cannot be offered; None where they can.

        Args:
            check: Raises what speaks against them.
        """
        loaded: asyncio.Future[_Tools | str] = asyncio.get_running_loop().create_future()

        def keep(found: _Tools) -> None:
            check(found)
            hand_over(loaded, found)
            self._decided.wait()
            if not self._is_taken:
                raise Discarded

        threading.Thread(target=self._run, args=(keep, loaded), name="sidecall-reload", daemon=True).start()
        found = await loaded
        if isinstance(found, str):
            return found
        self.tools = found
        return None

    def _run(self, keep: Callable[[_Tools], object], loaded: "asyncio.Future[_Tools | str]") -> None:
        try:
            folders = watched_folders(self._places)
            found = load_generation(self._places, folders, self._use_entry_points, keep)
        except Discarded:
            return
        except DefinitionError as error:  # Of a module that has come into a package.
            found = error.message
        if isinstance(found, str):
            hand_over(loaded, found)

    def take(self) -> None:
        """Let the modules stay."""
        self._is_taken = True
        self._decided.set()

    def discard(self) -> None:
        """Have the modules of before back."""
        self._decided.set()


logger = logging.getLogger("sidecall")

# Seconds in which the files have to load; a file that hangs would keep a reload for ever.
LONGEST = 60.0
_HANGS = f"The files did not load in {LONGEST:g} seconds."
_FAILED = "the tools were not reloaded, the last good ones still serve: %s"


class Reloaded(BaseModel, defer_build=True):
    """What a reload has changed."""

    tools: Changes
    toolsets: Changes | None = Field(default=None, description="Null without a file of toolsets.")
    mcp_servers: Changes | None = Field(
        default=None,
        description="Null without `SIDECALL_MCP_SERVERS`; the tools of a new one come once it is connected.",
    )
    certificate: bool | None = Field(
        default=None,
        description="Whether new connections get another certificate; absent without HTTPS.",
        exclude_if=lambda value: value is None,
    )
    offered: int = Field(description="How many tools of the files are offered now.")
    workers: int = Field(default=1, description="In how many server processes this holds.")


class Sources(Struct, frozen=True, kw_only=True):
    """What is loaded again, and from where.

    Args:
        places: Where tools are.
        use_entry_points: Whether installed packages offer tools.
        toolsets: The toolsets in use.
        read_toolsets: Reads their file; None where the setting names none.
        upstream: The MCP servers in use; None where the setting names none.
        mcp_servers: The file or text that names them.
        check: Raises what speaks against tools, beside their names.
        certificates: The certificate with which the server speaks HTTPS, if it does.
    """

    places: Sequence[str]
    use_entry_points: bool
    toolsets: Toolsets
    read_toolsets: ReadToolsets | None
    upstream: "_upstream.Upstream | None"
    mcp_servers: str | None
    check: Callable[[list[CompiledTool]], object]
    certificates: Replaceable | None = None


class _Prepared(Struct):
    generation: Generation
    toolsets: Toolsets | None = None
    servers: Mapping[str, Any] | None = None
    errors: list[str] = field(default_factory=list)


class Reloader:
    """Reloads what one process offers; calls that run go on with the tool with which they began."""

    def __init__(self, registry: Registry, sources: Sources, announce: Callable[[], object]) -> None:
        """Take what is offered, and a function that is called when it has changed."""
        self._registry = registry
        self._sources = sources
        self._announce = announce
        self._prepared: _Prepared | None = None
        self._turn = asyncio.Lock()

    async def reload(self) -> Reloaded:
        """Load everything again and offer it.

        Raises:
            ReloadFailed: Something is broken, and nothing has changed.
        """
        async with self._turn:
            errors = await self.prepare()
            if errors:
                self.discard(errors)
                raise make_failure(errors)
            return self.take()

    async def prepare(self) -> list[str]:
        """Load everything beside what serves, and return what is broken; `take` or `discard` has to follow."""
        self.discard([])
        sources = self._sources
        generation = Generation(sources.places, sources.use_entry_points)
        prepared = self._prepared = _Prepared(generation)
        try:
            async with asyncio.timeout(LONGEST):
                broken = await self._load(generation)
        except TimeoutError:
            broken = _HANGS
        prepared.errors += [] if broken is None else [broken]
        await SERVER.run(self._read_files, prepared)
        return prepared.errors

    async def _load(self, generation: Generation) -> str | None:
        if self._registry.is_discovered:
            return await generation.load(self._check)
        # A program has given them, and they are its own.
        generation.tools = [it if isinstance(it, CompiledTool) else it.compiled for it in self._registry.given]
        return None

    def _check(self, tools: list[CompiledTool]) -> None:
        self._registry.join(tools)
        self._sources.check(tools)

    def _read_files(self, prepared: _Prepared) -> None:
        sources = self._sources
        try:
            if sources.read_toolsets is not None:
                prepared.toolsets = sources.read_toolsets()
        except SidecallError as error:
            prepared.errors.append(error.message)
        try:
            if sources.mcp_servers is not None and sources.upstream is not None:
                prepared.servers = sources.upstream.read_entries(sources.mcp_servers)
        except SidecallError as error:
            prepared.errors.append(error.message)
        try:
            if sources.certificates is not None:
                sources.certificates.prepare()
        except SidecallError as error:
            prepared.errors.append(error.message)

    def discard(self, errors: list[str]) -> None:
        """Keep what serves; the errors are logged, and stand in the status until a reload succeeds."""
        prepared, self._prepared = self._prepared, None
        if prepared is not None:
            prepared.generation.discard()
            if self._sources.certificates is not None:
                self._sources.certificates.discard()
        if errors:
            self._registry.load_errors = tuple(errors)
            for error in errors:
                logger.error(_FAILED, error)

    def take(self) -> Reloaded:
        """Offer what was prepared, and return what is different, in one turn of the event loop.

        Raises:
            ReloadFailed: It cannot be offered, since other tools have come meanwhile.
        """
        prepared, self._prepared = self._prepared, None
        if prepared is None:
            raise ReloadFailed("Nothing is prepared.")
        before = {tool.name: tool for tool in self._registry.offered}
        tools = prepared.generation.tools
        try:
            self._registry.replace(tools)
        except SidecallError as error:
            self._prepared = prepared
            self.discard([error.message])
            raise ReloadFailed(error.message) from error
        prepared.generation.take()
        self._registry.load_errors = ()
        after = {tool.name: tool for tool in self._registry.offered}
        reloaded = Reloaded(
            tools=_compare_tools(before, after),
            toolsets=self._take_toolsets(prepared.toolsets, after),
            mcp_servers=self._take_servers(prepared.servers),
            certificate=None if self._sources.certificates is None else self._sources.certificates.take(),
            offered=len(tools),
        )
        self._announce()
        logger.info("reloaded: %s", ", ".join(self._registry.names) or "no tools")
        return reloaded

    def _take_toolsets(self, toolsets: Toolsets | None, tools: Mapping[str, CompiledTool]) -> Changes | None:
        if toolsets is None:
            return None
        used = self._sources.toolsets
        changes = compare(used.list_entries(), toolsets.list_entries())
        for unmet in toolsets.find_unmet({name: tool.options.tags for name, tool in tools.items()}):
            logger.warning("SIDECALL_TOOLSETS: %s", unmet)
        used.replace(toolsets)
        return changes

    def _take_servers(self, entries: Mapping[str, Any] | None) -> Changes | None:
        upstream = self._sources.upstream
        if entries is None or upstream is None:
            return None
        changes = compare({server.name: server.entry for server in upstream.servers}, entries)
        upstream.change(entries)
        return changes


def _compare_tools(old: Mapping[str, CompiledTool], new: Mapping[str, CompiledTool]) -> Changes:
    # What is the same object needs no look.
    both = {name for name in old.keys() & new.keys() if old[name] is not new[name]}
    said = [{name: identify(tool) if name in both else () for name, tool in tools.items()} for tools in (old, new)]
    return compare(*said)


def make_failure(errors: list[str]) -> ReloadFailed:
    """Make the answer that says what is broken."""
    return ReloadFailed(" ".join(errors), errors=[{"type": "reload_failed", "msg": it} for it in errors])
