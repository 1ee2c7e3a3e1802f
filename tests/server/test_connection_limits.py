"""Clients are cut off for keeping the server waiting, and for nothing else."""

import asyncio
from typing import Any

import pytest
import uvicorn
from starlette.types import Receive, Scope, Send

from sidecall.kernel.lifecycle import Lifecycle, Patience
from sidecall.server.connection_limits import Connection, Connections
from sidecall.server.request_reader import RequestRoom
from tests.kit.asgi import Wire

REQUEST = b"POST /tool_calls HTTP/1.1\r\nHost: sidecall\r\nContent-Length: 2\r\n\r\n{}"


async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
    """Answer every request alike."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
    await send({"type": "http.response.body"})


@pytest.fixture
def wire() -> Wire:
    """Give the network."""
    return Wire()


@pytest.fixture
async def connection(wire: Wire) -> Connection:
    """Be connected to a server that waits for a client for ten seconds."""
    config = uvicorn.Config(answer, log_config=None)
    config.load()
    app_state: dict[str, Any] = {}
    made = Connection(
        config,
        Connections(Lifecycle(), Patience(), 100, 75, RequestRoom(1_000_000_000)),
        app_state,
        asyncio.get_running_loop(),
    )
    made.connection_made(wire)
    return made


async def test_what_cannot_be_read_is_logged_once_in_ten_seconds(caplog: pytest.LogCaptureFixture) -> None:
    """Else any client could fill the log; each is counted by its status."""
    config = uvicorn.Config(answer, log_config=None)
    config.load()
    shared = Connections(Lifecycle(), Patience(), 100, 5, RequestRoom(1_000_000))
    for request in (b"nonsense\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nA: " + b"b" * 40_000) * 10:
        made = Connection(config, shared, {}, asyncio.get_running_loop())
        made.connection_made(Wire())
        made.data_received(request)
    for now in (0, 5, 9.5, 10, 20):
        shared.sweep(now)

    made = Connection(config, shared, {}, asyncio.get_running_loop())
    made.connection_made(Wire())
    made.data_received(b"nonsense\r\n\r\n")
    shared.sweep(20)
    shared.sweep(21)
    shared.complain()  # As at the server's end.

    said = "requests that could not be read or were too large were refused"
    assert caplog.messages == [f"{said}: 30", f"{said}: 1"]
    assert shared.lifecycle.refused == {400: 21, 431: 10}


async def test_a_client_that_asks_the_same_again_and_again_is_not_idle(connection: Connection, wire: Wire) -> None:
    """Its requests are equal, and still others."""
    for second in range(30):
        connection.data_received(REQUEST)
        await asyncio.sleep(0)
        connection.look(second)

    assert wire.is_open
    assert b"".join(wire.pieces).count(b"HTTP/1.1 200 OK") == 30


async def test_a_client_that_asks_nothing_more_is_idle(connection: Connection, wire: Wire) -> None:
    """Its connection is closed without a word, later than one on which nothing was asked."""
    connection.data_received(REQUEST)
    await asyncio.sleep(0)
    for second in range(75):
        connection.look(second)
    was_open = wire.is_open
    connection.look(75)

    assert (was_open, wire.is_open) == (True, False)
    assert b"".join(wire.pieces).count(b"HTTP/1.1 ") == 1
