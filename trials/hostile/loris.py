"""Keep a server waiting on thousands of connections, and see whether others wait too."""

import asyncio
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

import uvloop

from bench.latency_probe import LatencyProbe, Seen
from bench.machine import raise_file_limit
from tests.kit.servers import Server
from trials.finding import Finding
from trials.serving import serving

TOOLS = "trials/served/typed.py"
IDLE = 10_000
_SLOW = 500
_GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
_BODY = (
    b"POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
)
_HEADER_LIMIT = 10.0
_BODY_LIMIT = 30.0
# Connections are looked at twice a second; and a client needs a moment to see it.
_SLACK = 0.6
# To close ten thousand takes a while.
_MANY_MORE = 2.0
_QUICK = 0.05
_FILES_BESIDE = 300


@dataclass(frozen=True, slots=True)
class Ending:
    """How a connection ended: its status, 0 for none, and after how many seconds."""

    status: int
    seconds: float


def run() -> Iterator[Finding]:
    """Try S4."""
    with serving(TOOLS) as server:
        yield from _dripping(server)
    with serving(TOOLS) as server:
        yield _idle(server)
    with serving(TOOLS) as server:
        yield _large_headers(server)


def _dripping(server: Server) -> Iterator[Finding]:
    with (
        LatencyProbe(server.port, every=0.02, fresh=True, calling=True) as probe,
        LatencyProbe(server.port, every=0.2, calling=True) as regular,
    ):
        heads, bodies = uvloop.run(_drip_all(server.port))
    yield _cut("headers", heads, _HEADER_LIMIT, probe)
    yield _cut("bodies", bodies, _BODY_LIMIT, probe)
    yield Finding(
        "S4",
        "a client that repeats one call five times a second on one connection meanwhile",
        "keeps its connection, and has no call refused or reset",
        f"{len(regular.seconds)} calls on {regular.connections} connections, {len(regular.failures)} failed",
        regular.connections == 1 and not regular.failures,
    )


def _cut(what: str, endings: list[Ending], limit: float, probe: Seen) -> Finding:
    statuses = ", ".join(f"{count} with {status}" for status, count in Counter(end.status for end in endings).items())
    seconds = [end.seconds for end in endings]
    return Finding(
        "S4",
        f"{_SLOW} {what}, a byte a second, beside {_SLOW} of the other kind",
        f"408 within {limit:g} s; new connections of others have their calls answered with p99 < 50 ms",
        f"{statuses} after {min(seconds):.1f} to {max(seconds):.1f} s; others: {probe}",
        {end.status for end in endings} == {408} and not probe.failures,
        max(seconds) <= limit + _SLACK and probe.p99 < _QUICK,
    )


async def _drip_all(port: int) -> tuple[list[Ending], list[Ending]]:
    heads = [_drip(port, _GET + b"X-Slow: ", b"a", _HEADER_LIMIT * 2) for _ in range(_SLOW)]
    bodies = [_drip(port, _BODY, b" ", _BODY_LIMIT * 1.5) for _ in range(_SLOW)]
    endings = await asyncio.gather(*heads, *bodies)
    return endings[:_SLOW], endings[_SLOW:]


async def _drip(port: int, start: bytes, sign: bytes, patience: float) -> Ending:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    began = time.monotonic()
    writer.write(start)
    dripping = asyncio.create_task(_drop(writer, sign))
    received = b""
    with suppress(TimeoutError, ConnectionError):
        async with asyncio.timeout(patience):
            received = await reader.read(4096)
    ended = time.monotonic()
    dripping.cancel()
    writer.close()
    return Ending(int(received[9:12] or 0), ended - began)


async def _drop(writer: asyncio.StreamWriter, sign: bytes) -> None:
    with suppress(ConnectionError, RuntimeError):
        while True:
            await asyncio.sleep(1)
            writer.write(sign)


def _idle(server: Server) -> Finding:
    count = min(IDLE, raise_file_limit() - _FILES_BESIDE)
    before = server.resident_mb()
    with LatencyProbe(server.port, every=0.02, fresh=True, calling=True) as probe:
        open_ones, grown, ends = uvloop.run(_stay(server, count, before))
    return Finding(
        "S4",
        f"{count:,} connections, made at once, that send nothing",
        f"all closed within {_HEADER_LIMIT + _MANY_MORE:g} s; calls of others p99 < 50 ms",
        f"{open_ones:,} open, all closed after {max(ends):.1f} s; {grown:+.0f} MB; others: {probe}",
        open_ones == count and not probe.failures,
        max(ends) <= _HEADER_LIMIT + _MANY_MORE and probe.p99 < _QUICK,
    )


async def _stay(server: Server, count: int, before: float) -> tuple[int, float, list[float]]:
    door = asyncio.Semaphore(256)
    ended: list[float] = []

    async def stay() -> None:
        async with door:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
        began = time.monotonic()
        with suppress(ConnectionError):
            await reader.read()
        ended.append(time.monotonic() - began)
        writer.close()

    staying = [asyncio.create_task(stay()) for _ in range(count)]
    await asyncio.sleep(_HEADER_LIMIT / 2)
    open_ones, grown = count - len(ended), server.resident_mb() - before
    async with asyncio.timeout(_HEADER_LIMIT * 3):
        await asyncio.gather(*staying)
    return open_ones, grown, ended


def _large_headers(server: Server) -> Finding:
    before = server.resident_mb()
    with LatencyProbe(server.port, every=0.02, fresh=True, calling=True) as probe:
        statuses = uvloop.run(_shout(server.port))
    grown = server.resident_mb() - before
    found = ", ".join(f"{count} with {status or 'reset'}" for status, count in sorted(statuses.items()))
    return Finding(
        "S4",
        "headers of 1 MB, 60 a second for 5 s",
        "431, or cut off; calls of others p99 < 50 ms; ≤ 20 MB more",
        f"{found}; {grown:+.0f} MB; others: {probe}",
        not statuses.keys() - {431, 0} and 431 in statuses,
        probe.p99 < _QUICK and grown <= 20,
    )


async def _shout(port: int) -> Counter[int]:
    tasks = []
    for _ in range(300):
        tasks.append(asyncio.create_task(_shout_once(port)))
        await asyncio.sleep(1 / 60)
    return Counter(await asyncio.gather(*tasks))


async def _shout_once(port: int) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = b""
    with suppress(ConnectionError):
        writer.write(_GET + b"X: " + b"a" * 1_000_000)
        received = await reader.read(4096)
    writer.close()
    return int(received[9:12] or 0)
