"""So many at once; what has to wait does so fairly."""

import asyncio

import pytest

from sidecall.kernel.concurrency.fair_queue import Semaphore

pytestmark = pytest.mark.virtual_time

ANN, BOB = ("default", "ann"), ("default", "bob")


async def test_callers_take_turns() -> None:
    """One call of another caller waits for one call of a flood."""
    room, order = Semaphore(1), list[str]()

    async def work(caller: tuple[str, str]) -> None:
        await room.enter(caller)
        order.append(caller[1])
        await asyncio.sleep(1)
        room.leave()

    await asyncio.gather(*(work(caller) for caller in (ANN, ANN, ANN, BOB)))

    assert order == ["ann", "ann", "bob", "ann"]
    assert (room.running, len(room.waiting)) == (0, 0)
