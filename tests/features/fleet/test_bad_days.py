"""What is late, old, wrong, too much or an hour off does no harm."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.bus import ALL, Bus
from sidecall.kernel.executors.process.child import Message
from tests.features.fleet.fleet_tools import TOOLS
from tests.kit.fleets import KEY, Fleet, call, is_available, wait_for
from tests.kit.nats import Broker, running_broker
from tests.kit.servers import PATIENCE, Server

_AN_HOUR_OFF = """
import time

_time = time.time
time.time = lambda: _time() + 3600
"""
_LATER = {"prefer": "respond-async"}


@pytest.fixture(scope="module")
def broker() -> Iterator[Broker]:
    """Start a bus that has room for a few tickets."""
    with running_broker("jetstream { max_memory_store: 4KB }") as made:
        yield made


@pytest.fixture(scope="module")
def server(fleet: Fleet) -> Server:
    """Start a server."""
    return fleet.serve(SIDECALL_QUEUE_TIMEOUT="3")


class FakeWorker:
    """A worker of the test's own, which has the key, and does as it is told."""

    def __init__(self, url: str) -> None:
        """Prepare for a bus."""
        self.heard: list[tuple[str, Message]] = []
        self.up = asyncio.Event()
        self.bus = Bus(BusAccess((url,), (KEY,)), self._hear, self.up.set)

    def _hear(self, sender: str, said: Message) -> None:
        self.heard.append((sender, said))

    async def offer(self, queue: str, tools: dict[str, str], free: int, *, is_leaving: bool = False) -> None:
        """Say that it is there, with these tools and so many free slots."""
        said = {"role": "worker", "name": "fake", "queue": queue, "pool": self.bus.id, "slots": 4, "running": 0}
        await self.bus.send(ALL, "here", None, {**said, "draining": is_leaving, "tools": len(tools), "free": free})

    async def wait_for(self, kind: str, subject: str | None = None) -> tuple[str, Message]:
        """Wait for a message of this kind."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for sender, said in self.heard:
                    if said.kind == kind and subject in (None, said.subject):
                        return sender, said
                await asyncio.sleep(0.01)


@pytest.fixture
async def fake(fleet: Fleet, server: Server) -> AsyncIterator[FakeWorker]:
    """Give a worker of the queue `nobody`, with its tool."""
    made = FakeWorker(fleet.bus.url)
    made.bus.open()
    await made.up.wait()
    hashed = {"unserved": await asyncio.to_thread(_read_hash, server)}
    await made.offer("nobody", hashed, 4)
    asker, _ = await made.wait_for("tools")
    await made.bus.send(asker, "tools", None, {"pool": made.bus.id, "tools": hashed})
    await asyncio.to_thread(wait_for, lambda: is_available(server, "unserved"))
    yield made
    await made.offer("nobody", hashed, 0, is_leaving=True)
    await made.bus.close()


def _read_hash(server: Server) -> str:
    found: str = httpx.get(f"{server.url}/tools/unserved", timeout=PATIENCE).json()["hash"]
    return found


async def _read(server: Server, job: str) -> dict[str, Any]:
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        answer = await client.get(f"{server.url}/tool_calls/{job}", headers={"prefer": "wait=20"})
        said: dict[str, Any] = answer.json()
        return said


async def test_a_claim_for_a_call_that_was_cancelled_is_refused(server: Server, fake: FakeWorker) -> None:
    """The worker gets no arguments."""
    job = (await asyncio.to_thread(call, server, "unserved", headers=_LATER)).json()["id"]
    gateway, ticket = await fake.wait_for("ticket", job)
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        await client.post(f"{server.url}/tool_calls/{job}/cancel")
    assert (await _read(server, job))["status"] == "cancelled"
    await fake.bus.send(gateway, "claim", job, {"n": ticket.content["n"]})
    await fake.wait_for("gone", job)
    assert not [said for _, said in fake.heard if said.kind == "grant"]


async def test_a_claim_for_a_call_that_has_waited_too_long_is_refused(server: Server, fake: FakeWorker) -> None:
    """Its client was told that no worker took it."""
    answer = await asyncio.to_thread(call, server, "unserved")
    assert answer.status_code == 503
    for gateway, ticket in [it for it in fake.heard if it[1].kind == "ticket"]:
        await fake.bus.send(gateway, "claim", ticket.subject, {"n": ticket.content["n"]})
        await fake.wait_for("gone", ticket.subject)
    assert not [said for _, said in fake.heard if said.kind == "grant"]


async def test_what_a_worker_says_of_another_attempt_is_dropped(server: Server, fake: FakeWorker) -> None:
    """A number that was never given, an answer before a claim, a second claim, and an answer of somebody else."""
    job = (await asyncio.to_thread(call, server, "unserved", headers=_LATER)).json()["id"]
    gateway, ticket = await fake.wait_for("ticket", job)
    number, wrong = ticket.content["n"], {"answer": {"value": "false"}}
    await fake.bus.send(gateway, "answer", job, {"n": number, **wrong})
    await fake.bus.send(gateway, "claim", job, {"n": number + 1000})
    await fake.wait_for("gone", job)
    await fake.bus.send(gateway, "claim", job, {"n": number})
    _, grant = await fake.wait_for("grant", job)
    assert grant.content["request"]["home"]["name"] == "unserved"
    fake.heard.clear()
    await fake.bus.send(gateway, "claim", job, {"n": number})
    await fake.wait_for("gone", job)
    await fake.bus.send(gateway, "answer", job, {"n": number + 1, **wrong})
    await fake.bus.send(gateway, "unbegun", job, {"n": number + 1})
    await fake.bus.send(gateway, "lost", job, {"n": number})
    ended = await _read(server, job)
    assert ended["status"] == "outcome_unknown"


async def test_a_worker_that_takes_no_ticket_holds_up_no_call(fleet: Fleet, server: Server, fake: FakeWorker) -> None:
    """Where it was sent one, or says that it is busy; the call waits in the stream then."""
    job = (await asyncio.to_thread(call, server, "unserved", headers=_LATER)).json()["id"]
    gateway, ticket = await fake.wait_for("ticket", job)
    await fake.bus.send(gateway, "busy", job, {"n": ticket.content["n"]})
    tickets = await fake.bus.pull("nobody", fake.bus.id)
    message = await tickets.next()
    assert message is not None
    read = fake.bus.read_ticket("nobody", fake.bus.id, message.data)
    assert read is not None
    assert read[1] == job
    assert read[2] != ticket.content["n"]
    await message.ack()
    await tickets.close()


def test_a_bus_that_is_full_or_stands_still_loses_nothing(fleet: Fleet, server: Server, tmp_path: Path) -> None:
    """Tickets that it has no room for come again, and what is said meanwhile arrives later, once."""
    patient = fleet.serve(SIDECALL_QUEUE_TIMEOUT="30")
    fleet.work("cpu", "--slots", "1")
    wait_for(lambda: is_available(patient, "echo"))
    file = tmp_path / "said"
    with ThreadPoolExecutor(32) as threads:
        blocked = threads.submit(call, patient, "blocks", seconds=1.5, file=str(file))
        wait_for(file.exists)
        asked = [threads.submit(call, patient, "echo", text=f"{number:0200}") for number in range(30)]
        wait_for(lambda: patient.metrics()['sidecall_fleet_waiting{queue="cpu"}'] == 30)
        os.kill(fleet.bus.pid, signal.SIGSTOP)
        time.sleep(2)
        os.kill(fleet.bus.pid, signal.SIGCONT)
        assert blocked.result(PATIENCE).json()["content"] == "still here"
        assert [it.result(PATIENCE).json()["content"] for it in asked] == [f"{number:0200}" for number in range(30)]
    assert len(file.read_text().splitlines()) == 1


def test_a_worker_whose_clock_is_an_hour_off_keeps_deadlines(fleet: Fleet, server: Server, tmp_path: Path) -> None:
    """Seconds left cross the bus, not times."""
    tools = tmp_path / "an_hour_off.py"
    tools.write_text(_AN_HOUR_OFF + TOOLS)
    fleet.work("cpu", tools=tools)
    fleet.started[-2].stop()
    wait_for(lambda: server.metrics()['sidecall_fleet_workers{queue="cpu"}'] == 1)
    assert call(server, "echo", text="on").json()["content"] == "on"
    file = tmp_path / "said"
    began = time.monotonic()
    assert call(server, "too_slow", file=str(file)).json()["response_metadata"]["error"]["kind"] == "timeout"
    assert time.monotonic() - began >= 0.5
    wait_for(lambda: "ended" in file.read_text())
