"""Under more load than a server may take, every request is answered."""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.e2e.hub import Hub
from tests.kit.servers import Server


@pytest.fixture(scope="module")
def server(start_server: Serve, reporting_tools: Path) -> Server:
    """Run 50 calls at once, and let 100 wait."""
    return start_server(
        "--tools",
        str(reporting_tools),
        SIDECALL_MAX_CONCURRENCY="50",
        SIDECALL_MAX_QUEUE="100",
        SIDECALL_QUEUE_TIMEOUT="60",
    )


@dataclass
class Client:
    """Ask a server on as many connections as there are requests, which HTTPX is slow to open."""

    server: Server

    async def post(self, call: Any) -> httpx.Response:
        """Post a call, and read its answer to the end of the connection."""
        reader, writer = await asyncio.open_connection(self.server.host, self.server.port)
        body = json.dumps(call).encode()
        head = "POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
        try:
            writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            answer, _, content = (await reader.read()).partition(b"\r\n\r\n")
        finally:
            writer.close()
        first, *lines = answer.decode().split("\r\n")
        return httpx.Response(int(first.split()[1]), headers=[line.split(": ", 1) for line in lines], content=content)


@pytest.fixture
def client(server: Server) -> Client:
    """Ask the server."""
    return Client(server)


def _call(hub: Hub, number: int) -> dict[str, Any]:
    return {"name": "hold", "args": {"port": hub.port, "name": f"{number}"}, "id": f"call_{number}"}


async def _flood(client: Client, hub: Hub, count: int, refused: int) -> tuple[list[httpx.Response], int]:
    """Send calls all at once; count those that run when so many have been refused, then let them go on."""
    answered = asyncio.Semaphore(0)
    calls = [asyncio.ensure_future(client.post(_call(hub, number))) for number in range(count)]
    for call in calls:
        call.add_done_callback(lambda _: answered.release())
    for _ in range(refused):
        await answered.acquire()
    await hub.hears_many(50)
    running = len(hub.lines)
    hub.release()
    return list(await asyncio.gather(*calls)), running


async def test_500_calls_on_50_places_are_all_answered(client: Client, hub: Hub) -> None:
    """150 have a place or may wait for one; the others are sent away at once, and none is lost or reset."""
    answers, running = await _flood(client, hub, 500, 350)
    served = [answer for answer in answers if answer.status_code == 200]
    refused = [answer for answer in answers if answer.status_code == 503]
    own = [number for number, answer in enumerate(answers) if answer.json().get("content") == f"{number}"]
    told = Counter((answer.headers.get("Retry-After"), answer.json()["type"]) for answer in refused)

    assert (running, len(served), len(refused), len(own)) == (50, 150, 350, 150)
    assert told == {("1", "urn:sidecall:problem:overloaded"): 350}
    assert {answer.headers["Content-Type"] for answer in refused} == {"application/problem+json"}


async def test_all_places_are_free_after_a_flood(client: Client, hub: Hub) -> None:
    """The same again, with the same outcome."""
    answers, running = await _flood(client, hub, 200, 50)

    assert Counter(answer.status_code for answer in answers) == {200: 150, 503: 50}
    assert running == 50


async def test_a_flooded_server_still_says_that_it_lives(client: Client, hub: Hub) -> None:
    """Probes and listings need no place."""
    calls = [asyncio.ensure_future(client.post(_call(hub, number))) for number in range(150)]
    await hub.hears_many(50)

    paths = (f"{client.server.url}/healthz", f"{client.server.url}/tools")
    answers = [await asyncio.to_thread(httpx.get, path) for path in paths]
    hub.release()
    done = await asyncio.gather(*calls)

    assert [answer.status_code for answer in answers] == [200, 200]
    assert {answer.status_code for answer in done} == {200}


async def test_clients_that_leave_the_queue_make_room(client: Client, hub: Hub) -> None:
    """Nobody waits behind the gone."""
    calls = [asyncio.ensure_future(client.post(_call(hub, number))) for number in range(150)]
    await hub.hears_many(50)
    full = await _until(client, hub, 503)
    [call.cancel() for call in calls]
    await asyncio.wait(calls)
    hub.release()
    free = await _until(client, hub, 200)

    assert (full, free) == (503, 200)


async def _until(client: Client, hub: Hub, status: int) -> int:
    """Try a call until it is answered so; a client's leaving takes a moment to be noticed."""
    for number in range(1000, 1200):
        try:
            answer = await asyncio.wait_for(client.post(_call(hub, number)), 0.5)
        except TimeoutError:
            continue
        if answer.status_code == status:
            return status
    return 0
