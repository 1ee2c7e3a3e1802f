"""Begin large requests and end none, and see what they take and whether others are served."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

import uvloop

from bench.latency_probe import LatencyProbe
from tests.kit.servers import Server
from trials.finding import Finding
from trials.serving import serving

_TOOLS = "trials/served/typed.py"
_COUNT = 120
_BODY = 4 * 1024 * 1024
_HEAD = (
    b"POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
) % _BODY
# Seconds that they stay.
_STAY = 5.0
_MOST_MB = 128


def run() -> Iterator[Finding]:
    """Try S4 with bodies that lack only their end."""
    with serving(_TOOLS) as server:
        yield _stalled(server)


def _stalled(server: Server) -> Finding:
    before = server.resident_mb(peak=True)
    with LatencyProbe(server.port, every=0.05, fresh=True, calling=True) as probe:
        statuses = uvloop.run(_stall_all(server.port))
    grown = server.resident_mb(peak=True) - before
    calls = len(probe.seconds)
    found = ", ".join(f"{count} with {status or 'nothing'}" for status, count in sorted(statuses.items()))
    return Finding(
        "S4",
        f"{_COUNT} bodies that stall just short of 4 MB, for {_STAY:g} s",
        f"503, or nothing yet; most calls of others are answered; peak ≤ {_MOST_MB} MB more",
        f"{found}; peak {grown:+.0f} MB; others: {calls} calls, {len(probe.failures)} failed",
        not statuses.keys() - {503, 0} and len(probe.failures) < calls / 2,
        grown <= _MOST_MB,
    )


async def _stall_all(port: int) -> Counter[int]:
    return Counter(await asyncio.gather(*(_stall(port) for _ in range(_COUNT))))


async def _stall(port: int) -> int:
    """Return the status that came, 0 for none."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    received = b""
    with suppress(ConnectionError, TimeoutError):
        async with asyncio.timeout(_STAY):
            writer.write(_HEAD)
            for _ in range(_BODY // 65536):
                writer.write(b" " * 65535)
                await writer.drain()
            received = await reader.read(4096)
    writer.transport.abort()
    return int(received[9:12] or 0)
