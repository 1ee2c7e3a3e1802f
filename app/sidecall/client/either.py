"""Use one server with an event loop and without, over either client."""

import asyncio
import contextvars
import inspect
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from sidecall.client.asynchronous import AsyncSidecall
from sidecall.client.blocking import Sidecall

_CALLBACKS = ("ask", "on_progress")


@dataclass(frozen=True)
class Clients:
    """The clients of one server; of an address there are both."""

    blocking: Sidecall | None
    awaited: AsyncSidecall | None

    @classmethod
    def of(cls, server: str | Sidecall | AsyncSidecall) -> "Clients":
        """Return the clients of a server.

        Raises:
            TypeError: It is neither an address nor a client.
        """
        if isinstance(server, str):
            return cls(Sidecall(server), AsyncSidecall(server))
        if isinstance(server, Sidecall):
            return cls(server, None)
        if isinstance(server, AsyncSidecall):
            return cls(None, server)
        raise TypeError(f"tools are loaded from an address, a Sidecall or an AsyncSidecall, not from {server!r:.100}")

    def run(self, method: str, *args: Any, **options: Any) -> Any:
        """Call a method of a client, and wait for its result."""
        if self.blocking is not None:
            return getattr(self.blocking, method)(*args, **options)
        return _run_apart(lambda: self._run_once(method, *args, **options))

    async def arun(self, method: str, *args: Any, **options: Any) -> Any:
        """Call a method of a client on an event loop, or in a thread if there is only the other client."""
        if self.awaited is not None:
            return await getattr(self.awaited, method)(*args, **options)
        return await asyncio.to_thread(getattr(self.blocking, method), *args, **_bring_home(options))

    async def _run_once(self, method: str, *args: Any, **options: Any) -> Any:
        assert self.awaited is not None
        try:
            return await getattr(self.awaited, method)(*args, **options)
        finally:
            # Those of an event loop that ends now.
            await self.awaited.close()


def _run_apart(work: Callable[[], Any]) -> Any:
    """Run on an event loop of its own, in a thread if there is a running one here."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(contextvars.copy_context().run, asyncio.run, work()).result()


def _bring_home(options: Mapping[str, Any]) -> dict[str, Any]:
    """Let functions of the program run on its event loop, also when a thread calls them."""
    loop = asyncio.get_running_loop()

    def bring(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        async def run(value: Any) -> Any:
            said = function(value)
            return await said if inspect.isawaitable(said) else said

        return lambda value: asyncio.run_coroutine_threadsafe(run(value), loop).result()

    return {key: bring(it) if key in _CALLBACKS and it is not None else it for key, it in options.items()}
