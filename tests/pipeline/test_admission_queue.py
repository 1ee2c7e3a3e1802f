"""So many calls wait for a place, for so long; whoever would have to wait in vain is sent away at once."""

import asyncio
import time
from contextlib import nullcontext
from typing import Any

import pytest

from sidecall.core.overload import Overloaded, TooManyCalls
from tests.pipeline.entering import ANN, Server, began
from tests.virtual_time import VIRTUAL, outcome


@pytest.fixture(scope="module")
def anyio_backend() -> Any:
    """Let no test wait."""
    return VIRTUAL


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
    gates = server.gates

    (came, after) = await outcome(server.admission.enter(gates, ANN, time.monotonic() + seconds))

    assert came is Overloaded
    assert after == pytest.approx(waited, abs=0.05)
    assert server.crowd == (1, 0)
    await first


@pytest.mark.parametrize(
    ("limits", "refusal"),
    [
        pytest.param({"concurrency": 1, "queue": 0}, Overloaded, id="no queue"),
        pytest.param({"per_caller": 1}, TooManyCalls, id="the caller's share"),
        pytest.param({"concurrency": 1, "queue": 1}, None, id="room to wait"),
        pytest.param({"concurrency": 2, "queue": 0}, None, id="a place"),
    ],
)
async def test_a_call_can_be_turned_away_without_coming_in(limits: Any, refusal: type[Exception] | None) -> None:
    """Whoever would have to wait, or comes in, is not; nothing is counted."""
    server = Server(**limits)
    first = asyncio.ensure_future(server.call(caller=ANN))
    await asyncio.sleep(0)
    gates = server.gates

    for _ in range(3):
        with pytest.raises(refusal) if refusal else nullcontext():
            server.admission.turn_away(gates, ANN)

    assert server.crowd == (1, 0)
    await first
