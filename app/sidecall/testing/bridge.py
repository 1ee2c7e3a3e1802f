"""An ASGI application that runs on a loop of its own, and may be called from any other."""

import asyncio
import atexit
import os
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator, MutableMapping
from contextlib import AbstractAsyncContextManager, contextmanager
from functools import cache
from typing import Any, TypeVar

from sidecall.kernel.concurrency.event_loop import cancel_all, run_steadily

T = TypeVar("T")

# Seconds for a loop to end; one that a tool blocks is left behind.
_PATIENCE = 5.0


class BackgroundLoop:
    """An event loop in a thread, as a server has one for all its calls; a tool that stops it does not end it."""

    def __init__(self, name: str = "sidecall-testing") -> None:
        self.loop = asyncio.new_event_loop()
        self._end = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine there, in a copy of this thread's context, and return its result.

        Raises:
            RuntimeError: It would wait for itself: the caller runs on this loop.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError("A sync call here would wait for itself; await the async form, such as `acall`.")
        running = asyncio.run_coroutine_threadsafe(coroutine, self.loop)
        try:
            return running.result()
        except BaseException:
            running.cancel()
            raise

    def close(self) -> None:
        """Cancel what still runs there, and end the thread."""
        if self._thread.is_alive():
            self.loop.call_soon_threadsafe(self._end.set)
            self._thread.join(_PATIENCE)

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        run_steadily(self.loop, self.loop.create_task(_wait_and_cancel(self._end)))
        self.loop.run_until_complete(self.loop.shutdown_asyncgens())
        self.loop.close()


async def _wait_and_cancel(end: asyncio.Event) -> None:
    await end.wait()
    await cancel_all()  # What ignores its cancellation is left behind.


def shared_loop() -> BackgroundLoop:
    """Return the loop of all sync calls in this process, so that clients which tools keep open stay usable."""
    return _find_loop(os.getpid())


@cache
def _find_loop(_process: int) -> BackgroundLoop:
    # A forked process has none of its parent's threads.
    background = BackgroundLoop()
    atexit.register(background.close)
    return background


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
