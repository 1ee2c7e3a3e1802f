"""When the client has gone, nobody works for it any more."""

import asyncio
import gc
import weakref
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from sidecall.http.disconnect import DisconnectListener, DisconnectSweep
from tests.kernel.pipeline.stubborn import LONG, fails_when_cancelled, late_event, swallows
from tests.kit.asgi import Peer
from tests.kit.virtual_time import outcome, running, virtual_runner

pytestmark = pytest.mark.virtual_time


async def while_present(receive: Any, work: Any) -> Any:
    """Do some work in the task that is to be cancelled."""
    return await DisconnectListener(receive).over(work)


@pytest.fixture
def peer() -> Peer:
    """Be a client whose body has been read."""
    client = Peer()
    client.messages.clear()
    return client


@pytest.fixture
async def late() -> asyncio.Event:
    """Give what stubborn code waits for."""
    return late_event()


async def test_work_is_done_while_the_client_is_there(peer: Peer) -> None:
    """However long it takes."""

    async def work() -> str:
        await asyncio.sleep(LONG)
        return "done"

    assert await outcome(while_present(peer.receive, work())) == ("done", LONG)


@pytest.mark.parametrize(("seconds", "asked"), [(0, 0), (0.04, 0), (0.06, 1)])
async def test_quick_work_is_not_watched(peer: Peer, seconds: float, asked: int) -> None:
    """Most calls are over before it would be worth the while."""
    await while_present(peer.receive, asyncio.sleep(seconds))

    assert peer.asked == asked


async def test_work_is_cancelled_when_the_client_goes(peer: Peer) -> None:
    """At once, and its clean-up is waited for."""
    seen: list[Any] = []

    async def work() -> None:
        try:
            await asyncio.sleep(LONG)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        finally:
            await asyncio.sleep(0.5)
            seen.append("cleaned up")

    running().call_later(0.2, peer.gone.set)

    assert await outcome(while_present(peer.receive, work())) == (ClientDisconnect, 0.7)
    assert seen == ["cancelled", "cleaned up"]


async def test_a_part_of_work_is_watched_with_all_of_it(peer: Peer) -> None:
    """And so is what comes after it."""
    listener = DisconnectListener(peer.receive)

    async def work() -> None:
        await listener.over(asyncio.sleep(1))
        await asyncio.sleep(LONG)

    running().call_later(1.2, peer.gone.set)

    assert await outcome(listener.over(work())) == (ClientDisconnect, 1.2)


async def test_a_client_that_went_at_once_is_missed_soon(peer: Peer) -> None:
    """As soon as it is looked for."""
    peer.gone.set()

    assert await outcome(while_present(peer.receive, asyncio.sleep(LONG))) == (ClientDisconnect, 0.05)


async def test_only_its_going_counts(peer: Peer) -> None:
    """No matter what else the server has to say."""
    peer.messages += [{"type": "http.request", "body": b"", "more_body": False}] * 3
    running().call_later(0.2, peer.gone.set)

    assert await outcome(while_present(peer.receive, asyncio.sleep(LONG))) == (ClientDisconnect, 0.2)


@pytest.mark.parametrize(
    ("begins", "seconds", "asked"),
    [
        pytest.param(0, 0.09, 0, id="over before the second round"),
        pytest.param(0, 0.11, 1, id="there in the second round"),
        pytest.param(0.04, 0.05, 0, id="come before the first round, over before the second"),
        pytest.param(0.04, 0.07, 1, id="come before the first round, there in the second"),
        pytest.param(0.2, 0.09, 0, id="come when nobody waited any more, over before the second"),
        pytest.param(0.2, 0.11, 1, id="come when nobody waited any more, there in the second"),
    ],
)
async def test_a_sweep_begins_to_watch_after_one_round_or_two(
    peer: Peer, begins: float, seconds: float, asked: int
) -> None:
    """Which takes a timer for all that wait, rather than one for each."""
    sweep, other = DisconnectSweep(), Peer()
    first = asyncio.ensure_future(DisconnectListener(other.receive, sweep).over(asyncio.sleep(0.01)))
    await asyncio.sleep(begins)

    await DisconnectListener(peer.receive, sweep).over(asyncio.sleep(seconds))
    await first

    assert (peer.asked, other.asked) == (asked, 0)


async def test_a_sweep_misses_a_client_that_went(peer: Peer) -> None:
    """As soon as it looks, and cancels the work."""
    peer.gone.set()

    work = DisconnectListener(peer.receive, DisconnectSweep()).over(asyncio.sleep(LONG))

    assert await outcome(work) == (ClientDisconnect, 0.1)


def test_a_sweep_serves_one_loop_after_the_other(peer: Peer) -> None:
    """While one has clients that are waited for, those of another have timers of their own."""
    sweep = DisconnectSweep()

    async def wait(seconds: float) -> int:
        client = Peer()
        client.messages.clear()
        await DisconnectListener(client.receive, sweep).over(asyncio.sleep(seconds))
        return client.asked

    with virtual_runner() as one, virtual_runner() as other:
        busy = one.get_loop().create_task(wait(1))
        one.run(asyncio.sleep(0.01))
        assert other.run(wait(0.06)) == 1
        busy.cancel()
    with virtual_runner() as another:
        assert another.run(wait(0.06)) == 0
        assert another.run(wait(0.11)) == 1


@pytest.mark.parametrize("error", [ValueError, asyncio.CancelledError, TimeoutError])
async def test_an_error_of_the_work_is_raised(peer: Peer, error: type[BaseException]) -> None:
    """While the client is there."""

    async def work() -> None:
        await asyncio.sleep(1)
        raise error

    assert await outcome(while_present(peer.receive, work())) == (error, 1)


@pytest.mark.parametrize("is_gone", [False, True])
async def test_cancellation_from_outside_stays_cancellation(peer: Peer, is_gone: bool) -> None:
    """When the client goes at the same moment, too."""
    task = asyncio.ensure_future(outcome(while_present(peer.receive, asyncio.sleep(LONG))))
    running().call_later(1, task.cancel)
    running().call_later(1 if is_gone else LONG, peer.gone.set)

    assert await task == (asyncio.CancelledError, 1)
    assert task.cancelling() == 1


async def test_work_that_ends_all_the_same_has_ended(peer: Peer, late: asyncio.Event) -> None:
    """What comes of it goes to nobody, but is no error of ours."""
    running().call_later(1, peer.gone.set)

    assert await outcome(while_present(peer.receive, swallows(late))) == ("too late", LONG)


async def test_work_that_fails_as_the_client_goes_has_failed(peer: Peer, late: asyncio.Event) -> None:
    """An operator may want to know."""
    running().call_later(1, peer.gone.set)

    assert await outcome(while_present(peer.receive, fails_when_cancelled(late))) == (ValueError, 1)


@pytest.mark.parametrize("seconds", [0.01, 1, LONG])
async def test_nobody_listens_when_the_work_is_done(peer: Peer, seconds: float) -> None:
    """Neither a task nor a timer remains."""
    before = asyncio.all_tasks()
    running().call_later(5, peer.gone.set)

    await outcome(while_present(peer.receive, asyncio.sleep(seconds)))
    await asyncio.sleep(0)
    task = asyncio.current_task()
    assert task is not None
    await asyncio.sleep(LONG)

    assert asyncio.all_tasks() == before
    assert task.cancelling() == 0


async def test_what_is_over_is_not_left_to_the_collector() -> None:
    """The collector counts objects, not bytes: thousands of large bodies would wait for it."""

    class Client:
        async def receive(self) -> None:
            await asyncio.Event().wait()

    client = Client()
    left = weakref.ref(client)
    gc.collect()
    gc.disable()
    try:
        await asyncio.create_task(while_present(client.receive, asyncio.sleep(1)))
        await asyncio.sleep(0)
        del client
        assert left() is None
    finally:
        gc.enable()
