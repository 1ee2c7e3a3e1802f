"""Serve the OpenAPI document, which takes a second to make, without blocking."""

import asyncio
import json
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from sidecall.kernel.concurrency.coroutines import outlast
from sidecall.kernel.concurrency.pools import LISTINGS
from sidecall.kernel.registry import Registry

# Below which path the server is reached, which proxies say, not clients; and which tools there are.
_Wanted = tuple[str, int]


class ServedDocument:
    """The document as bytes: made in a thread at the first request, and again when the tools change.

    Concurrent requests wait for the same one.
    """

    def __init__(self, describe: Callable[[], dict[str, Any]], registry: Registry) -> None:
        self._describe = describe
        self._registry = registry
        self._making: dict[_Wanted, asyncio.Task[bytes]] = {}
        self._made: tuple[_Wanted, bytes] | None = None

    async def answer(self, request: Request) -> Response:
        """Answer with the document."""
        wanted = request.scope.get("root_path", "").rstrip("/"), self._registry.version
        made = self._made
        if made is None or made[0] != wanted:
            made = self._made = wanted, await self._make(wanted)
        return Response(made[1], media_type="application/json")

    async def _make(self, wanted: _Wanted) -> bytes:
        """Make it, or wait for the running one; it is finished even if its requesters disconnect."""
        making = self._making.get(wanted)
        if making is None:
            making = self._making[wanted] = asyncio.create_task(LISTINGS.run(self._write, wanted[0]))
            making.add_done_callback(lambda _: self._making.pop(wanted))
        return await outlast(making)

    def _write(self, root: str) -> bytes:
        document = self._describe()
        if root:
            document = {**document, "servers": [{"url": root}, *document.get("servers", [])]}
        return json.dumps(document, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
