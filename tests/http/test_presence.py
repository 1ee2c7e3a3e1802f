"""When the client has gone, nobody works for it any more."""

import asyncio
import gc
import json
import threading
import weakref
from collections.abc import Callable
from typing import Any

import pytest
from starlette.requests import ClientDisconnect

from sidecall import Registry, ToolContext, tool
from sidecall.http.presence import DisconnectListener, Sweep
from sidecall.main import create_app
from sidecall.settings import Settings
from tests.kit.asgi import Passing, Peer, scope_of, sized
from tests.kit.calls import run, write_call
from tests.kit.virtual_time import outcome, running, virtual_runner
from tests.pipeline.stubborn import LONG, fails_when_cancelled, late_event, swallows

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


async def test_a_client_that_went_at_once_is_missed_soon(peer: Peer) -> None:
    """As soon as it is looked for."""
    peer.gone.set()

    assert await outcome(while_present(peer.receive, asyncio.sleep(LONG))) == (ClientDisconnect, 0.05)


async def test_only_its_going_counts(peer: Peer) -> None:
    """Whatever else the server has to say."""
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
    sweep, other = Sweep(), Peer()
    first = asyncio.ensure_future(DisconnectListener(other.receive, sweep).over(asyncio.sleep(0.01)))
    await asyncio.sleep(begins)

    await DisconnectListener(peer.receive, sweep).over(asyncio.sleep(seconds))
    await first

    assert (peer.asked, other.asked) == (asked, 0)


async def test_a_sweep_misses_a_client_that_went(peer: Peer) -> None:
    """As soon as it looks, and cancels the work."""
    peer.gone.set()

    work = DisconnectListener(peer.receive, Sweep()).over(asyncio.sleep(LONG))

    assert await outcome(work) == (ClientDisconnect, 0.1)


def test_a_sweep_serves_one_loop_after_the_other(peer: Peer) -> None:
    """While one has clients that are waited for, those of another have timers of their own."""
    sweep = Sweep()

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


Call = Callable[..., Any]


def _tools(seen: list[Any]) -> list[Any]:
    @tool
    async def slow() -> None:
        """Take long."""
        try:
            await asyncio.sleep(5)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
        finally:
            seen.append("cleaned up")

    @tool
    async def stubborn(context: ToolContext) -> None:
        """Look now and then whether anybody waits."""
        while not context.cancelled:
            try:
                await asyncio.sleep(1)
            except asyncio.CancelledError:
                seen.append("ignored")
        seen.append("saw it")

    return [slow, stubborn]


@pytest.fixture(params=[True, False], ids=["in front", "framework"])
def call(request: pytest.FixtureRequest, seen: list[Any]) -> Call:
    """Give a function that posts calls of a slow tool to a server and hangs up after 0.2 seconds."""
    app = create_app(Settings(), Registry(_tools(seen)))
    if not request.param:
        app.add_middleware(Passing)

    async def post(target: str, body: Any) -> Peer:
        content = json.dumps(body).encode()
        peer = Peer([content])
        running().call_later(0.2, peer.gone.set)
        await app(scope_of("POST", target, sized(content)), peer.receive, peer.send)
        return peer

    return post


@pytest.fixture
def seen() -> list[Any]:
    """Remember what tools noticed."""
    return []


@pytest.mark.parametrize("target", ["/tool_calls", "/tool_calls?format=openai"])
async def test_a_tool_is_cancelled_when_its_client_goes(call: Call, seen: list[Any], target: str) -> None:
    """On every way; its clean-up has run, and the request has ended."""
    _, seconds = await outcome(call(target, write_call("slow")))

    assert (seconds, seen) == (0.2, ["cancelled", "cleaned up"])


async def test_the_tools_of_a_batch_are_cancelled_when_its_client_goes(call: Call, seen: list[Any]) -> None:
    """All of them."""
    _, seconds = await outcome(call("/tool_calls/batch", [write_call("slow")] * 3))

    assert (seconds, sorted(seen)) == (0.2, ["cancelled"] * 3 + ["cleaned up"] * 3)


async def test_a_client_that_has_gone_is_no_defect(
    call: Call, seen: list[Any], caplog: pytest.LogCaptureFixture
) -> None:
    """Nothing is logged that an operator would have to look at."""
    await call("/tool_calls", write_call("slow"))

    assert [record.message for record in caplog.records if record.levelname in ("WARNING", "ERROR")] == []


async def test_a_tool_that_ignores_cancellation_sees_that_nobody_waits(call: Call, seen: list[Any]) -> None:
    """It need not wait for its deadline to know."""
    _, seconds = await outcome(call("/tool_calls", write_call("stubborn")))

    assert (seen, seconds) == (["ignored", "saw it"], 0.2)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_sync_tool_sees_that_nobody_waits() -> None:
    """It cannot be cancelled, but it may ask."""
    begun, ended = threading.Event(), threading.Event()

    @tool
    def slow(context: ToolContext) -> None:
        """Work until nobody waits."""
        begun.set()
        while not context.cancelled:
            ended.wait(0.001)
        ended.set()

    app = create_app(Settings(), Registry([slow]))
    body = json.dumps(write_call("slow")).encode()
    peer = Peer([body])
    request = asyncio.ensure_future(app(scope_of("POST", "/tool_calls", sized(body)), peer.receive, peer.send))
    await asyncio.to_thread(begun.wait)
    before = ended.is_set()
    peer.gone.set()
    await request

    assert (before, await asyncio.to_thread(ended.wait, 60), peer.sent) == (False, True, [])


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_a_sync_tool_sees_that_its_time_is_up() -> None:
    """The same, at its deadline."""
    ended = threading.Event()

    @tool(timeout=0.01)
    def slow(context: ToolContext) -> None:
        """Work until nobody waits."""
        while not context.cancelled:
            ended.wait(0.001)
        ended.set()

    message = await run(slow)

    assert message.response_metadata["error"]["kind"] == "timeout"
    assert await asyncio.to_thread(ended.wait, 60)


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
