"""Do the worst that clients can do to a server's memory, all at once, and see whether others are served."""

import asyncio
import json
import socket
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import suppress
from functools import partial

import uvloop

from bench.latency_probe import LatencyProbe
from trials.finding import Finding
from trials.hostile.shapes import SHAPES
from trials.serving import serving

TOOLS = "trials/served/slow_clients.py,sidecall.calculator"
# The limit of the Kubernetes example.
_MOST_MB = 256
# The allowed 99th percentile of probes, in seconds.
_MOST_SECONDS = 0.5
_BODY = 4 * 1024 * 1024
_HEAD = b"POST %b HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
_POST = _HEAD % b"/tool_calls"
_PIECE = b" " * 65_536
_GET = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
# Seconds until a client who was refused comes again, and those that a call with others behind it takes.
_BREATH = 0.2
_SLOW = 5.0

Send = Callable[[bytes], Awaitable[None]]
Attack = Callable[[Send], Awaitable[None]]


def run_shortly() -> Iterator[Finding]:
    """Try a few of each for two seconds."""
    yield _mixed("artifacts of 10 MB", 2, scale=0.1)


def run() -> Iterator[Finding]:
    """Try S9 with large answers of every shape, the first for a minute, with the settings that a server has."""
    for index, shape in enumerate(SHAPES):
        yield _mixed(shape, 20 if index else 60)


def _mixed(shape: str, seconds: float, scale: float = 1.0) -> Finding:
    with serving(TOOLS) as server:
        with (
            LatencyProbe(server.port, every=0.05) as probe,
            LatencyProbe(server.port, every=0.05, fresh=True, calling=True) as caller,
        ):
            uvloop.run(_attack(server.port, shape, seconds, scale))
        peak, everything = server.resident_mb(peak=True, alone=True), server.resident_mb(peak=True)
    return Finding(
        "S9",
        f"endless trailers, requests ahead, stalled bodies, approvals and unread {shape} at once, for {seconds:g} s",
        f"all calls and probes of others are answered, 99 of 100 probes in {_MOST_SECONDS:g} s; peak ≤ {_MOST_MB} MB",
        f"peak {peak:,.0f} MB, of tool processes {everything - peak:,.0f} MB; {len(probe.seconds)} probes: {probe}; "
        f"{len(caller.seconds)} calls: {caller}",
        not probe.failures and not caller.failures,
        peak <= _MOST_MB and probe.p99 <= _MOST_SECONDS,
    )


async def _attack(port: int, shape: str, seconds: float, scale: float) -> None:
    attacks: tuple[tuple[int, Attack], ...] = (
        (10, _trail),
        (15, _send_ahead),
        (120, _stall),
        (60, _ask_for_approval),
        (10, partial(_draw, shape, b"Accept: text/event-stream\r\n")),
        (10, partial(_draw, shape, b"")),
    )
    until = time.monotonic() + seconds
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds), asyncio.TaskGroup() as group:
            for count, attack in attacks:
                for _ in range(max(1, round(count * scale))):
                    group.create_task(_keep_on(port, attack, until))


async def _keep_on(port: int, attack: Attack, until: float) -> None:
    """Come again whenever the server has hung up."""
    loop = asyncio.get_running_loop()
    while time.monotonic() < until:
        with socket.socket() as sock, suppress(ConnectionError):
            sock.setblocking(False)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            await loop.sock_connect(sock, ("127.0.0.1", port))
            await attack(partial(loop.sock_sendall, sock))
            await _until_hung_up(loop, sock)
        await asyncio.sleep(_BREATH)


async def _until_hung_up(loop: asyncio.AbstractEventLoop, sock: socket.socket) -> None:
    """Read next to nothing of an answer until there is no more."""
    while await loop.sock_recv(sock, 1):  # noqa: ASYNC110 - it is slow on purpose
        await asyncio.sleep(_BREATH)


async def _trail(send: Send) -> None:
    await send(_POST + b"Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n")
    while True:
        await send(b"X: %b\r\n" % _PIECE[:1000])


async def _send_ahead(send: Send) -> None:
    await send(_write(b"/tool_calls", {"name": "pause", "args": {"seconds": _SLOW}, "id": "call_1"}) + _GET * 12_000)


async def _stall(send: Send) -> None:
    await send(_POST + b"Content-Length: %d\r\n\r\n" % _BODY)
    for _ in range(_BODY // len(_PIECE)):
        await send(_PIECE[1:])


async def _ask_for_approval(send: Send) -> None:
    await send(_write(b"/tool_calls", {"name": "sign", "args": {"rows": ["x" * 4_100_000]}, "id": "call_1"}))


async def _draw(shape: str, accept: bytes, send: Send) -> None:
    await send(_write(b"/tool_calls/batch", SHAPES[shape], accept))


def _write(path: bytes, sent: object, headers: bytes = b"") -> bytes:
    body = json.dumps(sent).encode()
    return _HEAD % path + headers + b"Content-Length: %d\r\n\r\n" % len(body) + body
