"""What goes out in one piece is what uvicorn would have sent in two."""

import asyncio
import logging
from dataclasses import dataclass, field
from typing import Any

import pytest
from starlette.types import Message
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from sidecall.http.whole import send_whole
from tests.asgi import Wire, scope_of

HEADERS = [(b"x-request-id", b"r1"), (b"content-length", b"2"), (b"content-type", b"application/json")]


@dataclass
class Request:
    """One request that uvicorn serves, and what becomes of it."""

    keep_alive: bool = True
    access_log: bool = False
    wire: Wire = field(default_factory=Wire)
    answered: int = 0

    def __post_init__(self) -> None:
        self.flow = FlowControl(self.wire)
        logger = logging.getLogger("uvicorn.access")
        scope: Any = scope_of("POST", "/tool_calls")
        self.cycle = RequestResponseCycle(
            scope=scope,
            transport=self.wire,
            flow=self.flow,
            logger=logger,
            access_logger=logger,
            access_log=self.access_log,
            default_headers=[(b"date", b"Sat, 21 Nov 2026 11:00:00 GMT")],
            message_event=asyncio.Event(),
            expect_100_continue=False,
            keep_alive=self.keep_alive,
            on_response=self._count,
        )

    @property
    def cycle_send(self) -> Any:
        """What the application is given; uvicorn's types say the same as Starlette's in other words."""
        return self.cycle.send

    def _count(self) -> None:
        self.answered += 1

    async def send(self, message: Message) -> None:
        """Pass a message on, as middleware does."""
        await self.cycle_send(message)


async def test_an_answer_is_written_at_once() -> None:
    """The server's own headers first, then ours, then the body."""
    request = Request()

    await send_whole(request.cycle_send, 200, HEADERS, b"{}")

    assert request.wire.pieces == [
        b"HTTP/1.1 200 OK\r\n"
        b"date: Sat, 21 Nov 2026 11:00:00 GMT\r\n"
        b"x-request-id: r1\r\n"
        b"content-length: 2\r\n"
        b"content-type: application/json\r\n"
        b"\r\n"
        b"{}"
    ]
    assert (request.answered, request.wire.is_open) == (1, True)
    assert request.cycle.response_complete


async def test_without_a_body_there_is_none() -> None:
    """Nothing follows the headers of a 304."""
    request = Request()

    await send_whole(request.cycle_send, 304, [(b"etag", b'"e"')], b"")

    assert b"".join(request.wire.pieces).endswith(b'\r\netag: "e"\r\n\r\n')


async def test_a_connection_that_is_not_kept_is_closed() -> None:
    """And the client is told so."""
    request = Request(keep_alive=False)

    await send_whole(request.cycle_send, 200, HEADERS, b"{}")

    assert b"\r\nconnection: close\r\n\r\n{}" in request.wire.pieces[0]
    assert not request.wire.is_open


async def test_behind_middleware_it_is_two_messages() -> None:
    """Whoever stands in between sees all of the answer, and the client the same bytes."""
    alone, behind = Request(), Request()

    await send_whole(alone.cycle_send, 200, HEADERS, b"{}")
    await send_whole(behind.send, 200, HEADERS, b"{}")

    assert len(behind.wire.pieces) == 2
    assert b"".join(behind.wire.pieces) == b"".join(alone.wire.pieces)


async def test_where_requests_are_logged_uvicorn_logs_them(caplog: pytest.LogCaptureFixture) -> None:
    """It does so when it gets the first message."""
    caplog.set_level("INFO", "uvicorn.access")

    await send_whole(Request(access_log=True).cycle_send, 200, HEADERS, b"{}")

    assert [record.getMessage() for record in caplog.records] == ['127.0.0.1:50000 - "POST /tool_calls HTTP/1.1" 200']


async def test_a_client_that_has_gone_gets_nothing() -> None:
    """Neither does one whose request the ending server has answered."""
    request = Request()
    request.cycle.disconnected = True

    await send_whole(request.cycle_send, 200, HEADERS, b"{}")

    assert (request.wire.pieces, request.answered) == ([], 0)


async def test_a_client_that_does_not_read_is_waited_for() -> None:
    """What it has not read of earlier answers goes first."""
    request = Request()
    request.flow.pause_writing()
    sending = asyncio.create_task(send_whole(request.cycle_send, 200, HEADERS, b"{}"))
    await asyncio.sleep(0)
    before = list(request.wire.pieces)
    request.flow.resume_writing()
    await sending

    assert before == []
    assert len(request.wire.pieces) == 1
