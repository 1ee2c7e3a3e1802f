"""Which calls share a thread, and for how long they wait for it."""

import asyncio
import contextvars
import threading
from typing import Any, cast

import pytest

from sidecall import tool
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.executors.thread_jobs import ThreadJob
from sidecall.kernel.executors.thread_pool import Inbox, Paces, Sharing, ThreadExecutor
from tests.kernel.executors.conftest import answering

WHO: contextvars.ContextVar[int] = contextvars.ContextVar("WHO")


@pytest.mark.parametrize(
    ("runs", "is_quick"),
    [
        pytest.param([], False, id="never run"),
        pytest.param([0.0004], True, id="quick"),
        pytest.param([0.0005], False, id="slow"),
        pytest.param([0.0004, 0.0006], False, id="quick once, slow since"),
        pytest.param([0.0006, 0.0004], True, id="slow once, quick since"),
        pytest.param([0.0004, None], False, id="has held others up"),
        pytest.param([None] + [0.0004] * 100, False, id="has held others up a hundred quick calls ago"),
        pytest.param([None] + [0.0004] * 101, True, id="has been quick for longer than that"),
    ],
)
def test_the_last_call_of_a_tool_says_whether_it_is_quick(runs: list[float | None], is_quick: bool) -> None:
    """And one that held others up is not trusted for a while."""
    paces = Paces()
    for seconds in runs:
        if seconds is None:
            paces.distrust("work")
        else:
            paces.note("work", seconds)

    assert ("work" in paces.quick) is is_quick


def test_tools_that_are_gone_are_forgotten() -> None:
    """A server that loads its tools again and again does not grow."""
    paces = Paces()
    paces.note("old", 0.0001)
    paces.note("kept", 0.0001)
    paces.distrust("gone")
    paces.keep(["kept"])
    paces.note("gone", 0.0001)

    assert paces.quick == {"kept", "gone"}


def _jobs(number: int) -> list[ThreadJob]:
    return [ThreadJob(cast("Any", None), contextvars.Context(), cast("Any", None)) for _ in range(number)]


@pytest.fixture
def loop() -> Any:
    """Stand for an event loop; nothing is asked of it."""
    return cast("asyncio.AbstractEventLoop", object())


def test_calls_are_taken_in_their_order(loop: Any) -> None:
    """Until there is none, and the thread is free."""
    first, second, third = _jobs(3)
    sharing = Sharing()
    is_new = sharing.begin(Inbox(), first, loop)
    sharing.add(second)
    sharing.add(third)
    taken = [sharing.go_on(), sharing.go_on(), sharing.go_on()]

    assert is_new
    assert taken == [second, third, None]
    assert sharing.inbox is None


def test_who_waits_from_one_look_to_the_next_waits_no_longer(loop: Any) -> None:
    """While the others have their turn."""
    first, second, third, fourth = _jobs(4)
    sharing = Sharing()
    sharing.begin(Inbox(), first, loop)
    sharing.add(second)
    sharing.add(third)
    before = sharing.look()
    sharing.go_on()
    sharing.add(fourth)
    after = sharing.look()

    assert before == ([], None)
    assert after == ([third], None)
    assert list(sharing.waiting) == [fourth]


def test_a_call_that_runs_from_one_look_to_the_next_keeps_the_thread_to_itself(loop: Any) -> None:
    """All that wait for it are taken, however short they have waited."""
    first, second, third = _jobs(3)
    sharing = Sharing()
    sharing.begin(Inbox(), first, loop)
    sharing.add(second)
    sharing.look()
    sharing.add(third)
    found = sharing.look()

    assert found == ([second, third], first)
    assert (sharing.inbox, list(sharing.waiting)) == (None, [])


def test_a_call_that_is_taken_back_is_not_waited_for(loop: Any) -> None:
    """And does not hide that another one holds the thread."""
    first, second, third = _jobs(3)
    sharing = Sharing()
    sharing.begin(Inbox(), first, loop)
    sharing.add(second)
    sharing.add(third)
    sharing.look()
    sharing.remove(second)

    assert sharing.look() == ([third], first)


def test_nobody_looks_when_there_is_nothing_to_look_after(loop: Any) -> None:
    """The next that begins is told that it has to be looked after again."""
    [first] = _jobs(1)
    sharing = Sharing()
    sharing.begin(Inbox(), first, loop)
    again = sharing.begin(Inbox(), first, loop)
    sharing.go_on()
    looks = [(sharing.look(), sharing.loop), (sharing.look(), sharing.loop)]

    assert not again
    assert looks == [(([], None), loop), (([], None), None)]
    assert sharing.begin(Inbox(), first, loop)


async def test_quick_calls_that_come_at_once_are_answered_each_with_its_own() -> None:
    """Each sees the context variables of its caller."""

    @tool
    def work(number: int) -> tuple[int, int]:
        """Say the number, and who asks."""
        return number, WHO.get()

    threads = ThreadExecutor(4)
    answer = answering(threads)

    async def call(number: int) -> str:
        WHO.set(number + 1000)
        message = await answer(work, {"number": number})
        return str(message.content)

    said = [await asyncio.gather(*map(call, range(20))) for _ in range(10)]
    empty = threads.occupancy
    await threads.close()

    assert said == [[f"[{number}, {number + 1000}]" for number in range(20)]] * 10
    assert empty == Occupancy(size=4)


async def test_a_quick_tool_that_hangs_holds_nobody_up() -> None:
    """It keeps the thread that it shares with others, and they get another."""
    release = threading.Event()

    @tool
    def work(number: int) -> int:
        """Work, or hang."""
        if number == 0:
            release.wait(60)
        return number

    threads = ThreadExecutor(3)
    answer = answering(threads)
    _ = [await answer(work, {"number": 1}) for _ in range(5)]
    hanging = asyncio.ensure_future(answer(work, {"number": 0}))
    messages = await asyncio.gather(*(answer(work, {"number": number}) for number in range(1, 30)))
    is_hanging = not hanging.done()
    release.set()
    last = await hanging
    await threads.close()

    assert [message.content for message in messages] == [str(number) for number in range(1, 30)]
    assert (is_hanging, last.content) == (True, "0")


@pytest.mark.parametrize("is_closed", [False, True], ids=["given up", "closed"])
async def test_whoever_waits_for_a_hanging_tool_never_runs_when_nobody_waits(is_closed: bool) -> None:
    """Where there is no other thread."""
    entered, release = threading.Event(), threading.Event()
    ran: list[int] = []

    @tool
    def work(number: int) -> None:
        """Work, or hang."""
        ran.append(number)
        if number == 0:
            entered.set()
            release.wait(60)

    threads = ThreadExecutor(1)
    answer = answering(threads)
    _ = [await answer(work, {"number": 1}) for _ in range(5)]
    calls = [asyncio.ensure_future(answer(work, {"number": number})) for number in (0, 2, 3)]
    await asyncio.to_thread(entered.wait, 20)
    waiting = threads.occupancy.waiting
    if is_closed:
        await threads.close()
    else:
        calls[1].cancel()
        calls[2].cancel()
        await asyncio.wait(calls[1:])
    left = threads.occupancy.waiting
    release.set()
    await asyncio.wait(calls)
    await threads.close()

    assert (ran, waiting, left) == ([1, 1, 1, 1, 1, 0], 2, 0)


def test_several_event_loops_may_call_quick_tools_at_once() -> None:
    """Those of one share a thread, those of others have theirs."""
    contents: list[str] = []

    @tool
    def work(number: int) -> int:
        """Work."""
        return number

    executor = ThreadExecutor(4)

    async def call() -> None:
        answer = answering(executor)
        for _ in range(20):
            messages = await asyncio.gather(*(answer(work, {"number": number}) for number in range(5)))
            contents.append("".join(str(message.content) for message in messages))

    loops = [threading.Thread(target=asyncio.run, args=(call(),)) for _ in range(3)]
    for thread in loops:
        thread.start()
    for thread in loops:
        thread.join()

    assert contents == ["01234"] * 60
