"""Where the tools of a server process report to the test, and wait for its word."""

import asyncio
from types import TracebackType

# The tools that report; each takes the hub's port and says who it is.
TOOLS = '''
"""Tools that report to a test."""

import asyncio
import socket
from contextlib import asynccontextmanager

from sidecall import ToolContext, tool


@asynccontextmanager
async def reporting(port, name):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)

    def say(what):
        writer.write(f"{name} {what}\\n".encode())

    say("began")
    try:
        yield reader, say
    except asyncio.CancelledError:
        say("cancelled")
        raise
    finally:
        say("cleaned up")
        writer.close()


@tool
async def hold(port: int, name: str) -> str:
    """Wait for the test's word."""
    async with reporting(port, name) as (reader, _):
        await reader.read()
    return name


@tool
async def slow(port: int, name: str) -> str:
    """Take five seconds."""
    async with reporting(port, name) as (_, say):
        await asyncio.sleep(5)
        say("answered")
    return name


@tool
def slow_in_thread(port: int, name: str, context: ToolContext) -> str:
    """Look whether anybody waits, now and then."""
    with socket.create_connection(("127.0.0.1", port)) as hub:
        hub.sendall(f"{name} began\\n".encode())
        while not context.cancelled:
            hub.settimeout(0.01)
            try:
                hub.recv(1)
            except TimeoutError:
                pass
        hub.sendall(f"{name} saw it\\n".encode())
    return name


@tool
async def steps(port: int, name: str, context: ToolContext) -> str:
    """Tell how far it is, and wait for the test's word before the end."""
    async with reporting(port, name) as (reader, _):
        await context.progress(1, 2, "half")
        await reader.read()
        await context.progress(2, 2, "all")
    return name


@tool
async def chatter(port: int, name: str, times: int, context: ToolContext) -> str:
    """Say much on the way."""
    async with reporting(port, name) as (_, say):
        for number in range(times):
            await context.progress(number, times, "x" * 1000)
            await asyncio.sleep(0)
        say("said all")
    return name


@tool
async def nap(seconds: float) -> str:
    """Sleep."""
    await asyncio.sleep(seconds)
    return "slept"
'''


class Hub:
    """Hear what tools report, and give them the word to go on."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._heard = asyncio.Condition()
        self._go_on = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> "Hub":
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1000)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: type[BaseException] | None, _: object, __: TracebackType | None) -> None:
        self.release()
        self._server.close()
        await asyncio.gather(*self._tasks)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        release = asyncio.ensure_future(self._release(writer))
        async for line in reader:
            async with self._heard:
                self.lines.append(line.decode().rstrip())
                self._heard.notify_all()
        release.cancel()
        writer.close()

    async def _release(self, writer: asyncio.StreamWriter) -> None:
        await self._go_on.wait()
        writer.write_eof()

    def release(self) -> None:
        """Let all tools go on, those that come later at once."""
        self._go_on.set()

    async def hears(self, *lines: str) -> None:
        """Wait until these have been said, in any order."""
        async with self._heard, asyncio.timeout(60):
            await self._heard.wait_for(lambda: set(lines) <= set(self.lines))

    async def hears_many(self, count: int) -> None:
        """Wait until so much has been said."""
        async with self._heard, asyncio.timeout(60):
            await self._heard.wait_for(lambda: len(self.lines) >= count)
