"""Both clients of Python against an application in this process, asked in one way."""

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
from anyio import to_thread
from starlette.types import ASGIApp

from sidecall.client import AsyncSidecall, Sidecall

URL = "http://sidecall"


class BlockingASGI(httpx.BaseTransport):
    """Bring the requests of a thread to an application on the event loop that started it."""

    def __init__(self, app: ASGIApp) -> None:
        self._loop = asyncio.get_running_loop()
        self._transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send it there, and take the whole answer."""
        return asyncio.run_coroutine_threadsafe(self._handle(request), self._loop).result()

    async def _handle(self, request: httpx.Request) -> httpx.Response:
        response = await self._transport.handle_async_request(request)
        return httpx.Response(response.status_code, headers=response.headers, content=await response.aread())


@dataclass(frozen=True)
class Twin:
    """One of the clients."""

    client: Any

    async def ask(self, method: str, *args: Any, **options: Any) -> Any:
        """Call a method by its name, such as `approvals.list`, wherever it has to run; a stream comes as a list."""
        target: Any = self.client
        for name in method.split("."):
            target = getattr(target, name)
        return await wait_for(target, *args, **options)


async def wait_for(function: Any, *args: Any, **options: Any) -> Any:
    """Call a function or method of either client, and wait for what comes of it."""
    if inspect.iscoroutinefunction(function):
        return await function(*args, **options)
    if function.__module__ == "sidecall.client.asynchronous":
        given = function(*args, **options)
        return [event async for event in given] if isinstance(given, AsyncIterator) else given
    return await to_thread.run_sync(lambda: _gather(function(*args, **options)))


def _gather(given: Any) -> Any:
    return list(given) if isinstance(given, Iterator) else given


def make_twin(kind: str, app: ASGIApp, **options: Any) -> Twin:
    """Make the client of this kind, `blocking` or `asynchronous`."""
    if kind == "blocking":
        return Twin(Sidecall(URL, transport=BlockingASGI(app), **options))
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    return Twin(AsyncSidecall(URL, transport=transport, **options))
