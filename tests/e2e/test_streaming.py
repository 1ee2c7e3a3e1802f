"""Events travel over a real connection as they happen."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from tests.e2e.hub import Hub
from tests.kit.events import EVENTS, events_in
from tests.kit.servers import Server


@pytest.fixture
async def client(reporting: Server) -> AsyncIterator[httpx.AsyncClient]:
    """Ask the server."""
    async with httpx.AsyncClient(base_url=reporting.url, timeout=20, headers=EVENTS) as client:
        yield client


def _call(hub: Hub, name: str, who: str = "a", **args: Any) -> dict[str, Any]:
    return {"name": name, "args": {"port": hub.port, "name": who, **args}, "id": f"call_{who}"}


async def test_progress_arrives_while_the_tool_runs(client: httpx.AsyncClient, hub: Hub) -> None:
    """The tool goes on only when the client has seen it."""
    async with client.stream("POST", "/tool_calls", json=_call(hub, "steps")) as response:
        parts = response.aiter_text()
        first = events_in(await anext(parts))
        hub.release()
        rest = events_in("".join([part async for part in parts]))

    assert response.headers["X-Accel-Buffering"] == "no"
    assert first == [("progress", {"tool_call_id": "call_a", "done": 1, "total": 2, "message": "half"})]
    assert [name for name, _ in rest] == ["progress", "message"]
    assert rest[-1][1]["content"] == "a"


async def test_each_answer_of_a_batch_arrives_when_it_is_ready(client: httpx.AsyncClient, hub: Hub) -> None:
    """The slow one of the two is let go when the client has seen the quick one."""
    calls = [_call(hub, "hold"), {"name": "nap", "args": {"seconds": 0}, "id": "call_b"}]

    async with client.stream("POST", "/tool_calls/batch", json=calls) as response:
        parts = response.aiter_text()
        first = events_in(await anext(parts))
        hub.release()
        rest = events_in("".join([part async for part in parts]))

    assert [message["tool_call_id"] for _, message in (*first, *rest)] == ["call_b", "call_a"]


async def test_a_reader_that_takes_nothing_holds_no_tool_up(reporting: Server, hub: Hub) -> None:
    """The tool is done while the client has not read a byte; later it reads the answer all the same."""
    body = json.dumps(_call(hub, "chatter", times=20_000)).encode()
    reader, writer = await asyncio.open_connection(reporting.host, reporting.port, limit=1024)
    head = (
        "POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\nConnection: close\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    writer.transport.pause_reading()  # type: ignore[attr-defined]
    writer.write(head.encode() + body)
    await hub.hears("a said all")
    writer.transport.resume_reading()  # type: ignore[attr-defined]
    answer = await asyncio.wait_for(reader.read(), 60)
    writer.close()

    assert answer.count(b"event: message") == 1
    assert 200 < answer.count(b"event: progress") < 20_000


async def test_many_readers_are_served_at_once(client: httpx.AsyncClient, hub: Hub) -> None:
    """Each with the events of its own call."""
    calls = [client.post("/tool_calls", json=_call(hub, "steps", f"{number}")) for number in range(50)]
    answers = asyncio.gather(*calls)
    await hub.hears_many(50)
    hub.release()
    events = [events_in(answer.text) for answer in await answers]

    assert [[name for name, _ in told] for told in events] == [["progress", "progress", "message"]] * 50
    assert [{said["tool_call_id"] for _, said in told} for told in events] == [{f"call_{n}"} for n in range(50)]


async def test_a_connection_serves_the_next_request_after_a_stream(client: httpx.AsyncClient, hub: Hub) -> None:
    """It need not be closed to end one."""
    hub.release()

    async with client.stream("POST", "/tool_calls", json=_call(hub, "steps")) as first:
        await first.aread()
    async with client.stream("POST", "/tool_calls", json=_call(hub, "steps")) as second:
        await second.aread()
    streams = [answer.extensions["network_stream"].get_extra_info("client_addr") for answer in (first, second)]

    assert streams[0] == streams[1]
    assert [events_in(answer.text)[-1][0] for answer in (first, second)] == ["message", "message"]
