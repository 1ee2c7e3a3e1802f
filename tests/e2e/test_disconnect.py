"""A tool is stopped when the client that waits for it hangs up."""

import asyncio
import json
from typing import Any

import pytest

from tests.e2e.hub import Hub
from tests.kit.servers import Server

Opened = tuple[asyncio.StreamReader, asyncio.StreamWriter]


async def _open(server: Server) -> Opened:
    return await asyncio.open_connection(server.host, server.port)


def _request(body: Any, target: str = "/tool_calls", *headers: str) -> bytes:
    content = json.dumps(body).encode()
    lines = [
        f"POST {target} HTTP/1.1",
        "Host: localhost",
        "Content-Type: application/json",
        f"Content-Length: {len(content)}",
        *headers,
    ]
    return "\r\n".join([*lines, "", ""]).encode() + content


def _call(hub: Hub, name: str = "slow", who: str = "a") -> dict[str, Any]:
    return {"name": name, "args": {"port": hub.port, "name": who}, "id": f"call_{who}"}


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        pytest.param("/tool_calls", [], id="in front"),
        pytest.param("/tool_calls?format=openai", [], id="framework"),
        pytest.param("/tool_calls", ["Accept: text/event-stream"], id="events"),
    ],
)
async def test_a_tool_is_cancelled_and_cleans_up(reporting: Server, hub: Hub, target: str, headers: list[str]) -> None:
    """Long before it would have answered, on every way."""
    _, writer = await _open(reporting)
    writer.write(_request(_call(hub), target, *headers))
    await hub.hears("a began")
    await asyncio.sleep(0.2)
    writer.close()
    await hub.hears("a cleaned up")

    assert hub.lines == ["a began", "a cancelled", "a cleaned up"]


async def test_all_tools_of_a_batch_are_cancelled(reporting: Server, hub: Hub) -> None:
    """Each cleans up."""
    _, writer = await _open(reporting)
    writer.write(_request([_call(hub, who=who) for who in "abc"], "/tool_calls/batch"))
    await hub.hears("a began", "b began", "c began")
    writer.close()
    await hub.hears("a cleaned up", "b cleaned up", "c cleaned up")

    assert {line for line in hub.lines if line.endswith("cancelled")} == {"a cancelled", "b cancelled", "c cancelled"}


async def test_a_connection_that_is_reset_counts_too(reporting: Server, hub: Hub) -> None:
    """As when the client's process is killed."""
    _, writer = await _open(reporting)
    writer.write(_request(_call(hub)))
    await hub.hears("a began")
    writer.transport.abort()
    await hub.hears("a cleaned up")

    assert hub.lines == ["a began", "a cancelled", "a cleaned up"]


async def test_a_sync_tool_sees_that_nobody_waits(reporting: Server, hub: Hub) -> None:
    """It cannot be cancelled, but it can ask."""
    _, writer = await _open(reporting)
    writer.write(_request(_call(hub, "slow_in_thread")))
    await hub.hears("a began")
    writer.close()
    await hub.hears("a saw it")

    assert hub.lines == ["a began", "a saw it"]


async def test_a_client_that_stays_is_answered(reporting: Server, hub: Hub) -> None:
    """Looking whether it is there does not disturb the connection, which serves the next request too."""
    reader, writer = await _open(reporting)
    statuses = []
    for seconds in (0, 0.2, 0, 0.1):
        writer.write(_request({"name": "nap", "args": {"seconds": seconds}, "id": "1"}))
        statuses.append(await _status(reader))
    writer.close()

    assert statuses == [b"HTTP/1.1 200 OK"] * 4


async def test_a_client_may_send_its_next_request_early(reporting: Server, hub: Hub) -> None:
    """What comes while a call runs is not taken for the client's leaving."""
    reader, writer = await _open(reporting)
    writer.write(_request({"name": "nap", "args": {"seconds": 0.2}, "id": "1"}) * 3)
    statuses = [await _status(reader) for _ in range(3)]
    writer.close()

    assert statuses == [b"HTTP/1.1 200 OK"] * 3


async def _status(reader: asyncio.StreamReader) -> bytes:
    """Read an answer whole, and give its first line."""
    head = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 10)
    names = dict(line.lower().split(b": ", 1) for line in head.splitlines()[1:-1])
    await reader.readexactly(int(names[b"content-length"]))
    return head.splitlines()[0]


async def test_nothing_of_it_is_a_defect(reporting: Server, hub: Hub) -> None:
    """The log of this server has no traceback, after all that."""
    _, writer = await _open(reporting)
    writer.write(_request(_call(hub)))
    await hub.hears("a began")
    writer.close()
    await hub.hears("a cleaned up")

    assert "Traceback" not in reporting.log
    assert "ERROR" not in reporting.log
