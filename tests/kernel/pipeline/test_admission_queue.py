"""So many calls wait for a place, for so long; one that would have to wait in vain is sent away at once."""

import asyncio
from typing import Any

import pytest

from sidecall.kernel.core.overload import Overloaded, TooManyCalls
from sidecall.kernel.core.sender import allow_seconds
from tests.kernel.pipeline.entering import ANN, Server, began
from tests.kit.virtual_time import outcome

pytestmark = pytest.mark.virtual_time


async def test_no_more_than_so_many_wait() -> None:
    """The next is sent away at once, and told when to come again."""
    server = Server(concurrency=1, queue=2)
    calls = [asyncio.ensure_future(server.call()) for _ in range(3)]
    await asyncio.sleep(0)

    with pytest.raises(Overloaded) as refused:
        await server.call()
    await asyncio.gather(*calls)

    assert (refused.value.message, refused.value.retry_after) == ("Calls that wait already: 2.", 1)
    assert await began(server.call()) == [0]


async def test_nobody_waits_where_there_is_no_queue() -> None:
    """A limit alone sends away what is over it."""
    server = Server(concurrency=1, queue=0)
    first = asyncio.ensure_future(server.call())
    await asyncio.sleep(0)

    assert await outcome(server.call()) == (Overloaded, 0.0)
    await first


async def test_nobody_waits_longer_than_so_many_seconds() -> None:
    """And who gave up takes no place."""
    server = Server(concurrency=1, queue_timeout=2.5)
    calls = [asyncio.ensure_future(outcome(server.call(seconds=10))) for _ in range(2)]
    await asyncio.sleep(0)

    with pytest.raises(Overloaded) as refused:
        await server.call()

    assert (refused.value.message, refused.value.retry_after) == ("The call waited 2.5 seconds in vain.", 1)
    assert await calls[1] == (Overloaded, 2.5)
    assert server.crowd == (1, 0)
    await calls[0]
    assert await began(server.call()) == [0]


@pytest.mark.parametrize(("seconds", "waited"), [(0.5, 0.5), (60, 2.5), (-1, 0)])
async def test_nobody_waits_beyond_their_own_deadline(seconds: float, waited: float) -> None:
    """It only ever shortens the wait."""
    server = Server(concurrency=1, queue_timeout=2.5)
    first = asyncio.ensure_future(server.call(seconds=10))
    await asyncio.sleep(0)
    semaphores = server.semaphores

    (came, after) = await outcome(server.admission.enter(semaphores, ANN, allow_seconds(seconds)))

    assert came is Overloaded
    assert after == pytest.approx(waited, abs=0.05)
    assert server.crowd == (1, 0)
    await first


@pytest.mark.parametrize(
    ("limits", "came"),
    [
        pytest.param({"concurrency": 2}, True, id="a place"),
        pytest.param({"concurrency": 1, "queue": 1}, False, id="room to wait"),
        pytest.param({"concurrency": 1, "queue": 0}, False, id="no queue"),
        pytest.param({"concurrency": 2, "per_caller": 1}, TooManyCalls, id="the caller's share"),
    ],
)
async def test_a_place_that_is_free_is_taken_at_once(limits: Any, came: Any) -> None:
    """A call that finds none has taken nothing."""
    server = Server(**limits)
    first = asyncio.ensure_future(server.call(caller=ANN))
    await asyncio.sleep(0)

    if isinstance(came, bool):
        assert server.admission.enter_at_once(server.semaphores, ANN) is came
    else:
        with pytest.raises(came):
            server.admission.enter_at_once(server.semaphores, ANN)

    assert server.crowd == (1 + (came is True), 0)
    await first


async def test_who_found_no_place_at_once_does_not_count_for_its_caller() -> None:
    """It is counted once, by the wait that follows."""
    server = Server(concurrency=1, per_caller=2)
    first = asyncio.ensure_future(server.call(caller=ANN))
    await asyncio.sleep(0)

    [server.admission.enter_at_once(server.semaphores, ANN) for _ in range(3)]

    assert await began(server.call(caller=ANN)) == [1]
    await first
