"""Programs on the bus that lack the key run nothing, read nothing and are not believed."""

import asyncio
from collections.abc import AsyncIterator

import nats
import pytest
from nats.aio.client import Client
from nats.aio.msg import Msg

from sidecall.features.fleet.frames import Frames
from sidecall.features.processes.child import pack
from tests.kit.fleets import Fleet, call, is_available, wait_for
from tests.kit.servers import Server

_SECRET = "a-secret-of-the-caller"
OTHER_KEY = "b3RoZXIgb3RoZXIgb3RoZXIga2V5IDMyIGJ5dGVzISE="


@pytest.fixture(scope="module")
def server(fleet: Fleet) -> Server:
    """Start a server and a worker."""
    made = fleet.serve(FLEET_TOKEN=_SECRET)
    fleet.work("cpu")
    wait_for(lambda: is_available(made, "echo"))
    return made


@pytest.fixture
async def tapped(fleet: Fleet) -> AsyncIterator[tuple[Client, list[Msg]]]:
    """Hear everything on the bus."""
    heard: list[Msg] = []

    async def hear(message: Msg) -> None:
        heard.append(message)

    client = await nats.connect(fleet.bus.url)
    await client.subscribe(">", cb=hear)
    await client.flush()
    yield client, heard
    await client.close()


async def test_what_crosses_the_bus_says_nothing_without_the_key(
    server: Server, tapped: tuple[Client, list[Msg]]
) -> None:
    """Neither arguments nor answers nor secrets."""
    _, heard = tapped
    await asyncio.to_thread(call, server, "echo", text="what-is-said")
    # More than there are slots, and so long that some wait in the stream.
    held = {"seconds": 0.3, "file": "/dev/null"}
    await asyncio.gather(*(asyncio.to_thread(call, server, "blocks", **held) for _ in range(8)))
    await asyncio.to_thread(call, server, "knows")
    whole = b"".join(it.subject.encode() + it.reply.encode() + it.data for it in heard)
    assert len(heard) > 6
    for said in (b"what-is-said", _SECRET.encode(), b"echo", b"knows", b"answer", b"grant"):
        assert said not in whole
    tickets = [it for it in heard if it.subject.startswith("sidecall.ticket.")]
    assert tickets
    assert max(len(it.data) for it in tickets) <= 300


def _count_answered(fleet: Fleet) -> float:
    """Return how many calls the worker has answered, once none runs."""
    worker = fleet.started[1]
    wait_for(lambda: worker.metrics()['sidecall_worker_running{queue="cpu"}'] == 0)
    return worker.metrics()['sidecall_worker_calls_total{outcome="answered",queue="cpu"}']


async def test_what_was_heard_and_is_sent_again_runs_nothing(
    fleet: Fleet, server: Server, tapped: tuple[Client, list[Msg]]
) -> None:
    """Each frame, to where it went, and everywhere else."""
    client, heard = tapped
    await asyncio.to_thread(call, server, "where")
    before = await asyncio.to_thread(_count_answered, fleet)
    frames = [it for it in heard if it.subject.startswith("sidecall.")]
    places = sorted({it.subject for it in frames})
    for it in frames:
        for place in places:
            await client.publish(place, it.data)
    await client.flush()
    assert (await asyncio.to_thread(call, server, "echo", text="on")).json()["content"] == "on"
    assert await asyncio.to_thread(_count_answered, fleet) == before + 1


@pytest.mark.parametrize("keys", [[], [OTHER_KEY]], ids=["no key", "another key"])
async def test_who_lacks_the_key_is_neither_heard_nor_believed(
    fleet: Fleet, server: Server, tapped: tuple[Client, list[Msg]], keys: list[str]
) -> None:
    """As a server that gives calls out, and as a worker that answers."""
    client, heard = tapped
    await asyncio.to_thread(call, server, "echo", text="one")
    places = {it.subject for it in heard if it.subject.startswith("sidecall.")}
    frames, before = Frames(keys), await asyncio.to_thread(_count_answered, fleet)
    for subject in places:
        place = subject.removeprefix("sidecall.node.").removeprefix("sidecall.ticket.")
        for kind in (
            "ticket",
            "claim",
            "grant",
            "answer",
            "cancel",
            "lost",
            "drain",
            "here",
            "who",
            "unbegun",
            "ended",
        ):
            for frame in frames.write(place, pack(kind, "call", {"n": 1, "role": "worker", "name": "x"}), 100_000):
                await client.publish(subject, frame)
        await client.publish(subject, b"")
    await client.publish("sidecall.node.all", b"\xff" * 50)
    await client.flush()
    assert (await asyncio.to_thread(call, server, "echo", text="two")).json()["content"] == "two"
    assert await asyncio.to_thread(_count_answered, fleet) == before + 1
    assert fleet.started[1].process.poll() is None
    assert "SIDECALL_FLEET_KEY" in fleet.started[1].log


@pytest.mark.parametrize("keys", [None, OTHER_KEY], ids=["no key", "another key"])
def test_a_worker_without_the_key_gets_no_calls(fleet: Fleet, server: Server, keys: str | None) -> None:
    """It is not seen, and says why in its log."""
    stranger = Fleet(fleet.bus, fleet.folder / f"stranger-{keys is None}", fleet.tools, keys)
    stranger.folder.mkdir()
    worker = stranger.work("nobody")
    try:
        worker.wait_for("SIDECALL_FLEET_KEY")
        assert not is_available(server, "unserved")
    finally:
        stranger.close()


def test_both_keys_hold_while_one_is_changed(fleet: Fleet, server: Server) -> None:
    """The first encrypts, and each is read."""
    changing = Fleet(fleet.bus, fleet.folder / "changing", fleet.tools, f"{OTHER_KEY} {fleet.key}")
    changing.folder.mkdir()
    try:
        changed = changing.serve()
        changing.work("spare")
        wait_for(lambda: is_available(changed, "waits_once"))
        assert not is_available(server, "waits_once")
    finally:
        changing.close()
