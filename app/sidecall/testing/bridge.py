"""An ASGI application that runs on a loop of its own, and may be called from any other."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, MutableMapping
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any

from sidecall.testing.background import BackgroundLoop

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[MutableMapping[str, Any], Receive, Send], Awaitable[None]]


class BridgedApp:
    """Passes requests of any event loop to an application that has been started on another one.

    So a fixture that is not async can start and stop it, and tests, each on a loop of its own, can share it.
    """

    def __init__(self, app: AsgiApp, background: BackgroundLoop) -> None:
        """Take a running application, and its loop."""
        self.app = app
        self._background = background

    async def __call__(self, scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        """Serve one request; a lifespan is answered, since the application runs already."""
        if scope["type"] == "lifespan":
            await _answer_lifespan(receive, send)
            return
        here = asyncio.get_running_loop()

        async def receive_there() -> Message:
            return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_await(receive()), here))

        async def send_there(message: Message) -> None:
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(_await(send(message)), here))

        running = _await(self.app(scope, receive_there, send_there))
        await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(running, self._background.loop))


async def _await(awaitable: Awaitable[Any]) -> Any:
    return await awaitable


async def _answer_lifespan(receive: Receive, send: Send) -> None:
    while True:
        kind = (await receive())["type"]
        await send({"type": f"{kind}.complete"})
        if kind == "lifespan.shutdown":
            return


@contextmanager
def bridging(app: AsgiApp, lifespan: AbstractAsyncContextManager[Any]) -> Iterator[BridgedApp]:
    """Start an application with its lifespan, and stop it at the end."""
    background = BackgroundLoop("sidecall-testing-app")
    has_begun, end = asyncio.Event(), asyncio.Event()

    async def live() -> None:
        try:
            async with lifespan:
                has_begun.set()
                await end.wait()
        finally:
            has_begun.set()

    # In one task, which opens and closes it.
    living = asyncio.run_coroutine_threadsafe(live(), background.loop)
    try:
        background.run(_await(has_begun.wait()))
        if living.done():
            living.result()
        yield BridgedApp(app, background)
        background.loop.call_soon_threadsafe(end.set)
        living.result()
    finally:
        background.close()
