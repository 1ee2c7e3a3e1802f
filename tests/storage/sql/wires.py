"""A wire to a server, which can be cut, or go dead without anybody being told."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress


class Wire:
    """Passes on what comes to its port."""

    def __init__(self, port: int) -> None:
        self._far = port
        self._alive = asyncio.Event()
        self._alive.set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.port = 0

    def hold(self) -> None:
        """Pass nothing on, and keep all connections open."""
        self._alive.clear()

    def release(self) -> None:
        """Pass on what has come meanwhile, and all the rest."""
        self._alive.set()

    def cut(self) -> None:
        """Break all connections."""
        for writer in [*self._writers]:
            writer.transport.abort()

    async def join(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Connect one that came with the far end."""
        self._writers.add(writer)
        with suppress(OSError):
            await self._alive.wait()
            far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self._far)
            self._writers.add(far_writer)
            await asyncio.gather(
                self._pass_on(reader, far_writer), self._pass_on(far_reader, writer), return_exceptions=True
            )
            far_writer.transport.abort()
            self._writers.discard(far_writer)
        writer.transport.abort()
        self._writers.discard(writer)

    async def take_away(self) -> None:
        """Break all connections, and wait until nothing of them is left."""
        self.release()
        while self._writers:
            self.cut()
            await asyncio.sleep(0.01)

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while piece := await reader.read(65536):
            await self._alive.wait()
            writer.write(piece)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def wire_to(port: int) -> AsyncIterator[Wire]:
    """Lay a wire to a port of this machine."""
    wire = Wire(port)
    server = await asyncio.start_server(wire.join, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    try:
        yield wire
    finally:
        server.close()
        await wire.take_away()
