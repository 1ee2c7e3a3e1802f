"""What crosses the bus is heard in the order in which it was sent."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager

from sidecall.features.fleet.access import BusAccess
from sidecall.features.fleet.bus import ALL, Bus
from sidecall.features.processes.child import Message
from tests.kit.fleets import KEY
from tests.kit.nats import Broker


@asynccontextmanager
async def _on_bus(broker: Broker, hear: Callable[[Message], None]) -> AsyncIterator[Bus]:
    up = asyncio.Event()
    bus = Bus(BusAccess((broker.url,), (KEY,)), lambda _sender, said: hear(said), up.set)
    bus.open()
    try:
        await up.wait()
        yield bus
    finally:
        await bus.close()


async def _hear(broker: Broker, count: int) -> tuple[Sequence[int], int]:
    """Send messages to one process and then one to all; return what it heard, and how many turns others had."""
    heard, begun, turns = list[int](), asyncio.Event(), 0

    def hear(said: Message) -> None:
        heard.append(said.content)
        begun.set()

    async with _on_bus(broker, hear) as reader, _on_bus(broker, lambda _: None) as writer:
        for number in range(count):
            writer.send(reader.id, "said", None, number)
        writer.send(ALL, "said", None, count)
        await begun.wait()
        while len(heard) <= count:
            turns += 1
            await asyncio.sleep(0)
    return heard, turns


async def test_what_comes_to_all_waits_for_what_came_before_to_one(broker: Broker) -> None:
    """So that a worker that says its end has been heard of all that it has answered; others have turns meanwhile."""
    heard, turns = await _hear(broker, 100)
    assert heard == [*range(101)]
    assert turns >= 10
