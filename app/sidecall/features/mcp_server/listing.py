"""List tools in pages, in order of registration."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any, Literal

from pydantic_core import to_json

from sidecall.features.mcp_server.revisions import INVALID_PARAMS, RpcError, hint_caching, make_complete
from sidecall.kernel.concurrency.fair_queue import key_of
from sidecall.kernel.concurrency.pools import LISTINGS
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.registry import Registry
from sidecall.kernel.schema.forms.definitions import render_definitions

# Tools of one page; some clients never ask for the second.
_PAGE = 250


class ToolPages:
    """Make the pages of the list, and cache them while all callers get the same."""

    def __init__(self, registry: Registry, pipeline: Pipeline, page: int = _PAGE) -> None:
        self._registry = registry
        self._pipeline = pipeline
        self._page = page
        self._version = registry.version
        self._known: dict[str | None, bytes] = {}

    async def find(self, caller: Caller, cursor: Any) -> bytes:
        """Return the page of a cursor, the first one without it.

        Raises:
            RpcError: The cursor is not valid, or no longer.
        """
        if self._version != self._registry.version:
            self._version, self._known = self._registry.version, {}
        is_for_all = self._is_for_all(caller)
        if is_for_all and isinstance(cursor, str | None) and (known := self._known.get(cursor)) is not None:
            return known
        version = self._version
        tools = [tool for tool in await self._pipeline.visible(caller) if tool.declaration is None]
        start = 0 if cursor is None else _find_start(tools, cursor)
        body = await LISTINGS.run_for(key_of(caller), self._write, tools, start, cursor, is_for_all=is_for_all)
        # Any tool's name is a cursor, so caching all pages would take the square of the number of tools.
        if is_for_all and version == self._registry.version and start % self._page == 0:
            self._known[cursor] = body
        return body

    def _is_for_all(self, caller: Caller) -> bool:
        """Return whether other callers are shown the same."""
        return not self._registry.is_conditional and not self._registry.scopes and caller.toolset is None

    def _write(self, tools: list[CompiledTool], start: int, cursor: Any, *, is_for_all: bool) -> bytes:
        if is_for_all and (known := self._known.get(cursor)) is not None:
            return known  # Another request has written it meanwhile.
        shown, rest = tools[start : start + self._page], tools[start + self._page :]
        page: dict[str, Any] = {"tools": render_definitions(shown, "mcp")}
        if rest:
            page["nextCursor"] = shown[-1].name
        return to_json(make_complete(page | hint_caching(is_public=is_for_all)))


def _find_start(tools: list[CompiledTool], cursor: Any) -> int:
    """Find the tool after the cursor, which is the last of the page before."""
    names = [tool.name for tool in tools]
    if cursor not in names:
        raise RpcError(INVALID_PARAMS, "The cursor leads nowhere any more; ask for the list from its beginning.")
    return names.index(cursor) + 1


# Messages: the list has changed, or the connection is alive.
ListNews = Literal["changed", "quiet"]

# Seconds between checks whether the server is stopping, and of silence before a keep-alive.
_LOOK = 1.0

_QUIET = 15


class ListChanges:
    """The listeners for changes; a slow one gets several changes at once."""

    def __init__(self, *, is_fed: bool = False) -> None:
        """Start without listeners.

        Args:
            is_fed: Whether the list may change while the server runs.
        """
        self.is_fed = is_fed
        self._listeners: set[asyncio.Event] = set()
        self._told: list[Callable[[], None]] = []

    @property
    def listeners(self) -> int:
        """The number of listeners."""
        return len(self._listeners)

    def tell(self) -> None:
        """Note that the list has changed."""
        for listener in self._listeners:
            listener.set()
        for told in self._told:
            told()

    def hear(self, told: Callable[[], None]) -> None:
        """Call a function with each change."""
        self._told.append(told)

    async def follow(self, lifecycle: Lifecycle) -> AsyncGenerator[ListNews]:
        """Yield messages until the server stops."""
        listener = asyncio.Event()
        self._listeners.add(listener)
        looks = 0
        try:
            while not lifecycle.is_draining:
                try:
                    async with asyncio.timeout(_LOOK):
                        await listener.wait()
                except TimeoutError:
                    looks += 1
                    if looks % _QUIET == 0:
                        yield "quiet"
                else:
                    listener.clear()
                    yield "changed"
        finally:
            self._listeners.discard(listener)
