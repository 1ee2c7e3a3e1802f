"""A TCP link that carries each piece only after a while, in a thread of its own."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

_CHUNK = 262_144
Piece = tuple[float, bytes]


class _Link:
    """Carries the connections that come to it to a port of this machine."""

    def __init__(self, to: int, seconds: float) -> None:
        self._to, self._seconds = to, seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: list[asyncio.StreamWriter] = []

    async def accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry one connection, both ways, until either side ends it."""
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._to)
        self._writers += [writer, far_writer]
        for come, go in ((reader, far_writer), (far_reader, writer)):
            waiting: asyncio.Queue[Piece] = asyncio.Queue()
            for work in (self._take(come, waiting), self._give(waiting, go)):
                task = asyncio.create_task(work)
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

    async def _take(self, reader: asyncio.StreamReader, waiting: "asyncio.Queue[Piece]") -> None:
        piece = b"first"
        while piece:
            try:
                piece = await reader.read(_CHUNK)
            except OSError:
                piece = b""
            waiting.put_nowait((asyncio.get_running_loop().time() + self._seconds, piece))

    async def _give(self, waiting: "asyncio.Queue[Piece]", writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while True:
                due, piece = await waiting.get()
                await asyncio.sleep(due - asyncio.get_running_loop().time())
                if not piece:
                    break
                writer.write(piece)
                await writer.drain()
        writer.close()

    async def close(self) -> None:
        """End all connections."""
        for task in self._tasks:
            task.cancel()
        for writer in self._writers:
            writer.transport.abort()
        await asyncio.gather(*self._tasks, *(it.wait_closed() for it in self._writers), return_exceptions=True)


@contextmanager
def slow_link(to: int, seconds: float) -> Iterator[int]:
    """Give the port of a link to a port of this machine that takes so many seconds each way."""
    loop, link = asyncio.new_event_loop(), _Link(to, seconds)
    thread = threading.Thread(target=loop.run_forever, name="slow-link", daemon=True)
    thread.start()

    async def listen() -> asyncio.Server:
        return await asyncio.start_server(link.accept, "127.0.0.1", 0)

    async def end(server: asyncio.Server) -> None:
        server.close()
        await link.close()

    listening = asyncio.run_coroutine_threadsafe(listen(), loop).result()
    try:
        yield int(listening.sockets[0].getsockname()[1])
    finally:
        asyncio.run_coroutine_threadsafe(end(listening), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
