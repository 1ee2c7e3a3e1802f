"""So many calls run, so many wait, the others are sent away, and no place is ever lost."""

import asyncio
from dataclasses import replace
from typing import Any

import pytest

from sidecall.kernel.core.context import ANONYMOUS, Caller
from sidecall.kernel.core.overload import Overloaded, TooManyCalls
from sidecall.kernel.pipeline.admission import Admission, Limits
from tests.kernel.pipeline.entering import ALONE, ANN, BOB, FREE, NARROW, QUICK, Server, began
from tests.kit.virtual_time import outcome, running

pytestmark = pytest.mark.virtual_time


async def test_without_limits_all_run_at_once() -> None:
    """Nobody waits."""
    server = Server(queue=0)

    assert await began(*(server.call() for _ in range(5))) == [0, 0, 0, 0, 0]
    assert server.crowd == (0, 0)


async def test_the_server_runs_so_many_at_once() -> None:
    """Those that wait are served as they came."""
    server = Server(concurrency=2)

    assert await began(*(server.call() for _ in range(5))) == [0, 0, 1, 1, 2]
    assert server.crowd == (0, 0)


async def test_nobody_overtakes_those_who_wait() -> None:
    """A place that is free belongs to the call that waits longest, not to one that comes just then."""
    server = Server(concurrency=1)
    order: list[str] = []

    async def come(name: str) -> None:
        await server.call(seconds=0)
        order.append(name)

    first = asyncio.ensure_future(server.call())
    await asyncio.sleep(0)
    second = asyncio.ensure_future(come("waited"))
    running().call_later(1, lambda: order.append("at one second"))
    await first
    await asyncio.gather(second, come("came just then"))

    assert order == ["at one second", "waited", "came just then"]


async def test_it_is_known_how_many_run_and_wait() -> None:
    """For the operator."""
    server = Server(concurrency=2)
    calls = [asyncio.ensure_future(server.call()) for _ in range(5)]
    await asyncio.sleep(0.5)

    assert server.crowd == (2, 3)
    await asyncio.gather(*calls)


async def test_it_is_told_how_long_a_call_waited() -> None:
    """Nothing where there was room."""
    server = Admission(Limits(concurrency=1, queue=1, queue_timeout=5))
    semaphores = server.semaphores(FREE)

    at_once = await server.enter(semaphores, ANONYMOUS)
    running().call_later(1, server.leave, semaphores, ANONYMOUS)
    later = await server.enter(semaphores, ANONYMOUS)

    assert at_once == 0.0
    assert later > 0.0


async def test_one_caller_runs_so_many_at_once() -> None:
    """The next call is refused, while others are served."""
    server = Server(per_caller=2)
    calls = [asyncio.ensure_future(server.call(caller=ANN)) for _ in range(2)]
    await asyncio.sleep(0)

    with pytest.raises(TooManyCalls) as refused:
        await server.call(caller=ANN)

    assert (refused.value.message, refused.value.retry_after) == (
        "Calls of yours that run already, as many as one caller may: 2.",
        1,
    )
    assert await began(server.call(caller=BOB)) == [0]
    await asyncio.gather(*calls)
    assert await began(server.call(caller=ANN), server.call(caller=ANN)) == [0, 0]


async def test_calls_that_wait_count_for_their_caller() -> None:
    """One caller cannot fill the queue."""
    server = Server(concurrency=1, per_caller=2)
    calls = [asyncio.ensure_future(server.call(caller=ANN)) for _ in range(2)]
    await asyncio.sleep(0)

    assert await outcome(server.call(caller=ANN)) == (TooManyCalls, 0.0)
    await asyncio.gather(*calls)


@pytest.mark.parametrize(
    ("limits", "cancelled_at", "came"),
    [
        pytest.param({"queue": 0}, 9, (Overloaded, 0.0), id="sent away"),
        pytest.param({"queue_timeout": 0.5}, 9, (Overloaded, 0.5), id="in vain"),
        pytest.param({}, 0.5, (asyncio.CancelledError, 0.5), id="gave up"),
    ],
)
async def test_calls_that_never_ran_no_longer_count(limits: dict[str, Any], cancelled_at: float, came: Any) -> None:
    """However they ended."""
    server = Server(concurrency=1, per_caller=1, **limits)
    first = asyncio.ensure_future(server.call(caller=ANN))
    await asyncio.sleep(0)
    second = asyncio.ensure_future(outcome(server.call(caller=BOB)))
    running().call_later(cancelled_at, second.cancel)

    assert await second == came
    await first
    assert await began(server.call(caller=BOB)) == [0]


async def test_a_tool_runs_so_many_at_once() -> None:
    """While other tools take no notice."""
    server = Server()

    assert await began(server.call(NARROW), server.call(NARROW), server.call(FREE)) == [0, 1, 0]


async def test_a_sequential_tool_runs_alone() -> None:
    """No matter what else its author allows."""
    server = Server()

    assert await began(server.call(ALONE), server.call(ALONE)) == [0, 1]


async def test_those_who_wait_for_a_tool_hold_no_place_of_the_server() -> None:
    """A slow tool does not starve the others."""
    server = Server(concurrency=2)
    calls = [server.call(NARROW, seconds=3) for _ in range(3)]

    assert await began(*calls, server.call(FREE), server.call(FREE)) == [0, 3, 6, 0, 1]


async def test_a_tools_place_is_given_back_when_the_server_has_none() -> None:
    """Who waited for the server in vain does not keep the tool from others."""
    server = Server(concurrency=1, queue_timeout=2)
    busy = asyncio.ensure_future(server.call(FREE, seconds=3))
    await asyncio.sleep(0)

    assert await outcome(server.call(NARROW)) == (Overloaded, 2.0)
    await busy
    assert await began(server.call(NARROW)) == [0]


async def test_a_call_that_fails_gives_its_place_back() -> None:
    """To the call that waits."""
    server = Server(concurrency=1)

    async def fail() -> None:
        semaphores = server.admission.semaphores(FREE)
        await server.admission.enter(semaphores, ANONYMOUS)
        try:
            await asyncio.sleep(1)
            raise ValueError
        finally:
            server.admission.leave(semaphores, ANONYMOUS)

    failing = asyncio.ensure_future(outcome(fail()))
    await asyncio.sleep(0)

    assert await began(server.call()) == [1]
    assert await failing == (ValueError, 1.0)


async def test_what_runs_on_keeps_its_tools_place_and_none_of_the_servers() -> None:
    """Its next call waits for that, not for the answer; others go on."""
    server = Server(concurrency=1)

    async def leave_something_behind() -> None:
        semaphores = server.admission.semaphores(NARROW)
        server._semaphores["narrow"] = semaphores
        await server.admission.enter(semaphores, ANN)
        await asyncio.sleep(1)
        running().call_later(2, server.admission.abandon(NARROW))
        server.admission.leave(semaphores, ANN)

    leaving = asyncio.ensure_future(leave_something_behind())
    await asyncio.sleep(0)

    assert await began(server.call(NARROW), server.call(FREE)) == [3, 1]
    await leaving


async def test_what_runs_on_is_counted_until_it_ends() -> None:
    """Also of tools that run as often as they are called."""
    admission = Admission(Limits())
    releases = [admission.abandon(made) for made in (FREE, NARROW, QUICK)]
    during = dict(admission.abandoned)
    [release() for release in releases]

    assert during == {"thread": 2, "inline": 1}
    assert dict(admission.abandoned) == {"thread": 0, "inline": 0}


async def test_callers_of_one_name_in_two_tenants_are_two() -> None:
    """Each has places of its own."""
    admission = Admission(Limits(per_caller=1))

    await admission.enter((), Caller("ann", "acme"))
    await admission.enter((), Caller("ann", "emca"))
    with pytest.raises(TooManyCalls):
        await admission.enter((), Caller("ann", "acme"))

    assert admission.running == 2


async def test_a_tool_that_was_loaded_again_shares_its_place_with_its_old_calls() -> None:
    """A call from before and one from after never overlap where the author forbids it."""
    server = Server()
    before = server.call(ALONE)
    again = Server()
    again.admission = server.admission
    again.load(ALONE)

    assert await began(before, again.call(ALONE), server.call(ALONE)) == [0, 1, 2]


async def test_a_tool_that_was_loaded_again_has_the_places_that_it_says_now() -> None:
    """More than before, also for those who wait; then fewer."""
    server = Server()
    calls = began(*(server.call(NARROW) for _ in range(4)))
    wider = replace(NARROW, options=replace(NARROW.options, max_concurrency=2))
    server.load(wider)

    assert await calls == [0, 0, 1, 1]
    server.load(NARROW)
    assert await began(*(server.call(NARROW) for _ in range(2))) == [0, 1]
