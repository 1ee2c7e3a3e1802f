"""Keep thousands of requests open at once, each on a connection of its own."""

import asyncio
import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import cast

import uvloop

_CONNECTING = 256
_PATIENCE = 60.0
# Seconds after which a server has begun all of them.
_SETTLING = 1.0


@dataclass(frozen=True)
class Flood:
    """The result of a flood: right answers, the most open requests at once, and the whole time."""

    right: int
    at_once: int
    seconds: float


def flood(port: int, request: bytes, expected: bytes, count: int) -> Flood:
    """Send a request on each of so many connections, and wait for all answers."""
    return uvloop.run(_flood(port, request, expected, count))


async def _flood(port: int, request: bytes, expected: bytes, count: int) -> Flood:
    tide = _Tide(request, expected)
    door = asyncio.Semaphore(_CONNECTING)
    start = time.perf_counter()
    async with asyncio.timeout(_PATIENCE):
        right = await asyncio.gather(*(_ask(port, tide, door) for _ in range(count)))
    return Flood(sum(right), tide.highest, time.perf_counter() - start)


async def _ask(port: int, tide: "_Tide", door: asyncio.Semaphore) -> bool:
    async with door:
        _, asking = await asyncio.get_running_loop().create_connection(lambda: _Asking(tide), "127.0.0.1", port)
    return await asking.answered


class _Tide:
    """Count the requests that are open."""

    def __init__(self, request: bytes, expected: bytes) -> None:
        self.request = request
        self.expected = expected
        self.highest = 0
        self._open = 0

    def rise(self) -> None:
        self._open += 1
        self.highest = max(self.highest, self._open)

    def fall(self) -> None:
        self._open -= 1


class _Asking(asyncio.Protocol):
    """Send the request as soon as there is a connection, and close it with the answer."""

    def __init__(self, tide: _Tide) -> None:
        self._tide = tide
        self._received = b""
        self.answered: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports have the methods of the class without being of it.
        self._transport = cast("asyncio.WriteTransport", transport)
        self._tide.rise()
        self._transport.write(self._tide.request)

    def data_received(self, data: bytes) -> None:
        self._received += data
        if self._tide.expected in self._received:
            self._transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        del exc  # An answer that broke off lacks what is expected.
        self._tide.fall()
        if not self.answered.done():
            self.answered.set_result(self._tide.expected in self._received)


@contextmanager
def hold(port: int, request: bytes, count: int) -> Iterator[None]:
    """Keep so many requests open at once within the body, and hang up then."""
    with ExitStack() as stack:
        for _ in range(count):
            connection = stack.enter_context(socket.create_connection(("127.0.0.1", port)))
            connection.sendall(request)
        time.sleep(_SETTLING)
        yield
