"""What is late, old, wrong, too much or an hour off does no harm."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.bus import ALL, Bus
from sidecall.features.processes.child import Message, pack
from tests.features.fleet.fleet_tools import TOOLS
from tests.kit.fleets import KEY, Fleet, call, is_available, wait_for
from tests.kit.nats import Broker, running_broker
from tests.kit.servers import Server
from tests.kit.slow_links import slow_link
from tests.kit.waiting import PATIENCE

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
        self.url = url
        self.server = ""  # The place of the server, once it has asked
        self.heard: list[tuple[str, Message]] = []
        self.up = asyncio.Event()
        self.bus = Bus(BusAccess((url,), (KEY,)), self._hear, self.up.set)

    def _hear(self, sender: str, said: Message) -> None:
        self.heard.append((sender, said))

    async def offer(
        self, queue: str, tools: dict[str, str], free: int, *, pool: str | None = None, is_leaving: bool = False
    ) -> None:
        """Say that it is there, with these tools and so many free slots."""
        said = {"role": "worker", "name": "fake", "queue": queue, "pool": pool or self.bus.id, "slots": 4, "running": 0}
        self.bus.send(
            self.server or ALL, "here", None, {**said, "draining": is_leaving, "tools": len(tools), "free": free}
        )

    async def take_ticket(self, job: str | None = None) -> tuple[str, str, int]:
        """Take the ticket of a call, or of any, from the stream: return its server, call and number."""
        tickets = await self.bus.pull("nobody", self.bus.id)
        try:
            async with asyncio.timeout(PATIENCE):
                while True:
                    message = await tickets.next()
                    read = message and self.bus.read_ticket("nobody", self.bus.id, message.data)
                    if message is not None:
                        await message.ack()
                    if read and job in (None, read[1]):
                        return read
        finally:
            await tickets.close()

    async def wait_for(self, kind: str, subject: str | None = None) -> tuple[str, Message]:
        """Wait for a message of this kind."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for sender, said in self.heard:
                    if said.kind == kind and subject in (None, said.subject):
                        return sender, said
                await asyncio.sleep(0.01)


@pytest.fixture
async def job(server: Server, fake: FakeWorker) -> AsyncIterator[str]:
    """Give a remembered call, which the worker has a free slot for."""
    await fake.offer("nobody", {"unserved": ""}, 1)
    fake.bus.send(fake.server, "claim", "what was heard before", {"n": 0})
    await fake.wait_for("gone", "what was heard before")
    yield (made := await _begin(server))
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        await client.post(f"{server.url}/tool_calls/{made}/cancel")


@pytest.fixture
async def fake(fleet: Fleet, server: Server) -> AsyncIterator[FakeWorker]:
    """Give a worker of the queue `nobody`, with its tool."""
    made = FakeWorker(fleet.bus.url)
    made.bus.open()
    await made.up.wait()
    hashed = {"unserved": await asyncio.to_thread(_read_hash, server)}
    await made.offer("nobody", hashed, 0)
    made.server, _ = await made.wait_for("tools")
    made.bus.send(made.server, "tools", None, {"pool": made.bus.id, "tools": hashed})
    await asyncio.to_thread(wait_for, lambda: is_available(server, "unserved"))
    yield made
    await made.offer("nobody", hashed, 0, is_leaving=True)
    await made.bus.close()


def _read_hash(server: Server) -> str:
    found: str = httpx.get(f"{server.url}/tools/unserved", timeout=PATIENCE).json()["hash"]
    return found


async def _begin(server: Server) -> str:
    answer = await asyncio.to_thread(call, server, "unserved", headers=_LATER)
    made: str = answer.json()["id"]
    return made


async def _read(server: Server, job: str) -> dict[str, Any]:
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        answer = await client.get(f"{server.url}/tool_calls/{job}", headers={"prefer": "wait=20"})
        said: dict[str, Any] = answer.json()
        return said


async def test_a_claim_for_a_call_that_was_cancelled_is_refused(server: Server, fake: FakeWorker) -> None:
    """The worker gets no arguments."""
    job = await _begin(server)
    gateway, _, number = await fake.take_ticket(job)
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        await client.post(f"{server.url}/tool_calls/{job}/cancel")
    assert (await _read(server, job))["status"] == "cancelled"
    fake.bus.send(gateway, "claim", job, {"n": number})
    await fake.wait_for("gone", job)
    assert not [said for _, said in fake.heard if said.kind == "grant"]


async def test_a_claim_for_a_call_that_has_waited_too_long_is_refused(server: Server, fake: FakeWorker) -> None:
    """Its client was told that no worker took it."""
    asked = asyncio.create_task(asyncio.to_thread(call, server, "unserved"))
    gateway, name, number = await fake.take_ticket()
    assert (await asked).status_code == 503
    fake.bus.send(gateway, "claim", name, {"n": number})
    await fake.wait_for("gone", name)
    assert not [said for _, said in fake.heard if said.kind == "grant"]


async def test_what_a_worker_says_of_another_attempt_is_dropped(server: Server, fake: FakeWorker) -> None:
    """A number that was never given, an answer before a claim, a second claim, and what another worker says."""
    job = await _begin(server)
    gateway, _, number = await fake.take_ticket(job)
    wrong = {"answer": {"value": "false"}}
    fake.bus.send(gateway, "answer", job, {"n": number, **wrong})
    fake.bus.send(gateway, "claim", job, {"n": number + 1000})
    await fake.wait_for("gone", job)
    fake.bus.send(gateway, "claim", job, {"n": number})
    _, grant = await fake.wait_for("grant", job)
    assert grant.content["request"]["home"]["name"] == "unserved"
    fake.heard.clear()
    fake.bus.send(gateway, "claim", job, {"n": number})
    await fake.wait_for("gone", job)
    fake.bus.send(gateway, "answer", job, {"n": number + 1, **wrong})
    fake.bus.send(gateway, "unbegun", job, {"n": number + 1})
    await _say_as_another(fake, gateway, job, number)
    fake.bus.send(gateway, "lost", job, {"n": number})
    ended = await _read(server, job)
    assert ended["status"] == "outcome_unknown"


async def _say_as_another(fake: FakeWorker, gateway: str, job: str, number: int) -> None:
    """Speak of a call that another worker was given; what follows shows that all was read."""
    other = FakeWorker(fake.url)
    other.bus.open()
    await other.up.wait()
    for kind in ("answer", "unbegun", "lost", "end", "beat"):
        other.bus.send(gateway, kind, job, {"n": number, "answer": {"value": "false"}})
    other.bus.send(gateway, "claim", job, {"n": number})
    await other.wait_for("cancel", job)  # Of the sign of life: it runs for nobody.
    await other.wait_for("gone", job)
    await other.bus.close()


async def test_a_message_that_cannot_be_read_holds_up_no_other(server: Server, fake: FakeWorker) -> None:
    """Although they cross together."""
    for wrong in (b"\0\0\0\0\0\0\0\3[1]", b"\0\0\0\0\0\0\0\0", pack("claim", "of what?", {})):
        fake.bus.send_packed(fake.server, wrong)
    fake.bus.send(fake.server, "claim", "what follows", {"n": 0})
    await fake.wait_for("gone", "what follows")
    await asyncio.to_thread(server.wait_until, lambda log: log.count("a message of the fleet cannot be read") == 3)


async def test_a_worker_that_takes_calls_and_never_begins_is_given_no_more(
    fleet: Fleet, server: Server, fake: FakeWorker
) -> None:
    """However many free slots it tells of, and however often; it has to answer a call that it has claimed first."""

    async def boast() -> None:
        while True:
            for _ in range(500):
                await fake.offer("nobody", {"unserved": ""}, 1_000_000_000)
            await asyncio.sleep(0.2)

    boasting = asyncio.create_task(boast())
    try:
        await asyncio.to_thread(wait_for, lambda: server.metrics()['sidecall_fleet_workers{queue="nobody"}'] == 1)
        jobs = [await _begin(server) for _ in range(5)]
        for job in jobs[:4]:  # As many as it has slots.
            await fake.wait_for("grant", job)
        async with httpx.AsyncClient(timeout=PATIENCE) as client:
            await client.post(f"{server.url}/tool_calls/{jobs[4]}/cancel")
        assert {(await _read(server, job))["status"] for job in jobs[:4]} == {"outcome_unknown"}
        honest = await asyncio.to_thread(fleet.work, "nobody")
        await asyncio.to_thread(wait_for, lambda: call(server, "unserved").status_code == 200)
        answers = [await asyncio.to_thread(call, server, "unserved") for _ in range(3)]
        assert [it.json()["content"] for it in answers] == ["unreachable"] * 3
        assert {said.subject for _, said in fake.heard if said.kind == "grant"} <= set(jobs)
        await asyncio.to_thread(honest.stop)
    finally:
        boasting.cancel()


async def test_an_answer_that_crosses_a_cancel_ends_the_call(server: Server, fake: FakeWorker, job: str) -> None:
    """Its worker is not taken for lost."""
    lost, busy = "sidecall_fleet_lost_total", 'sidecall_executor_busy{executor="fleet"}'
    gateway, grant = await fake.wait_for("grant", job)
    await asyncio.to_thread(wait_for, lambda: server.metrics()[busy] == 1)  # Others may not have ended yet.
    before = server.metrics()[lost]
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        await client.post(f"{server.url}/tool_calls/{job}/cancel")
    await fake.wait_for("cancel", job)
    fake.bus.send(gateway, "answer", job, {"n": grant.content["n"], "answer": {"value": "1"}})
    await asyncio.to_thread(wait_for, lambda: server.metrics()[busy] == 0)
    assert server.metrics()[lost] == before


async def test_a_worker_that_has_no_room_any_more_holds_up_no_call(fake: FakeWorker, job: str) -> None:
    """Where it has told of a free slot; the call waits in the stream then, though it must not run twice."""
    gateway, grant = await fake.wait_for("grant", job)
    fake.bus.send(gateway, "unbegun", job, {"n": grant.content["n"]})
    _, _, number = await fake.take_ticket(job)
    assert number > grant.content["n"]


async def test_a_worker_is_asked_for_a_call_of_which_it_says_nothing(fake: FakeWorker, job: str) -> None:
    """The bus may have lost the call, or the worker; then it is given out again."""
    gateway, grant = await fake.wait_for("grant", job)
    _, asked = await fake.wait_for("held", job)
    assert asked.content == {"n": grant.content["n"]}
    fake.bus.send(gateway, "unbegun", job, asked.content)
    _, _, number = await fake.take_ticket(job)
    assert number > grant.content["n"]


async def test_a_call_for_a_worker_that_leaves_waits_for_another(server: Server, fake: FakeWorker) -> None:
    """Which says that it has not begun, so that it is given out again, though it must not run twice."""
    gone = FakeWorker(fake.url)
    gone.bus.open()
    await gone.up.wait()
    workers, repeated = 'sidecall_fleet_workers{queue="nobody"}', "sidecall_fleet_repeated_total"
    before = server.metrics()
    await gone.offer("nobody", {"unserved": ""}, 4, pool=fake.bus.id)
    await asyncio.to_thread(wait_for, lambda: server.metrics()[workers] == before[workers] + 1)
    job = await _begin(server)
    await gone.wait_for("grant", job)
    gone.bus.send(ALL, "ended", None, {"worker": gone.bus.id, "begun": {}, "is_all": True})
    await gone.bus.close()
    await fake.take_ticket(job)
    async with httpx.AsyncClient(timeout=PATIENCE) as client:
        await client.post(f"{server.url}/tool_calls/{job}/cancel")
    assert server.metrics()[repeated] == before[repeated] + 1


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
        time.sleep(1)
        os.kill(fleet.bus.pid, signal.SIGCONT)
        assert blocked.result(PATIENCE).json()["content"] == "still here"
        assert [it.result(PATIENCE).json()["content"] for it in asked] == [f"{number:0200}" for number in range(30)]
    assert len(file.read_text().splitlines()) == 1


def test_a_bus_that_is_slow_loses_nothing(fleet: Fleet, tmp_path: Path) -> None:
    """Calls begin once, whether they go straight to the worker or wait in the stream."""
    with slow_link(fleet.bus.port, 0.2) as port:
        slow = Fleet(replace(fleet.bus, port=port), tmp_path, fleet.tools)
        try:
            server = slow.serve()
            slow.work("slow", "--slots", "2")
            wait_for(lambda: is_available(server, "notes"))
            files = [tmp_path / str(number) for number in range(6)]
            with ThreadPoolExecutor(6) as threads:
                answers = list(threads.map(lambda it: call(server, "notes", file=str(it)), files))
            assert [it.json()["content"] for it in answers] == ["noted"] * 6
            assert [len(it.read_text().splitlines()) for it in files] == [1] * 6
        finally:
            slow.close()


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
