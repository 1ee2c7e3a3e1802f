"""The calls of one turn are answered in their order, and end together."""

import asyncio
from collections.abc import Coroutine
from itertools import count, groupby, pairwise
from math import inf
from time import monotonic
from typing import Annotated, Any

import pytest

from sidecall import InjectedState, Registry, ToolMessage, tool
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.pipeline.batch import PORTION, PORTIONS, BatchThrottle, keep, run_batch, run_together
from sidecall.kernel.pipeline.pipeline import Pipeline
from tests.kernel.pipeline.stubborn import LONG
from tests.kit.calls import write_request
from tests.kit.pipelines import make_pipeline, run_all
from tests.kit.virtual_time import outcome, running

pytestmark = pytest.mark.virtual_time


@pytest.fixture
def seen() -> list[str]:
    """Remember what ended, and how."""
    return []


async def _work(seen: list[str], name: str, seconds: float, tidying: float = 0) -> str:
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        await asyncio.sleep(tidying)
        seen.append(f"{name} cancelled")
        raise
    seen.append(f"{name} done")
    return name


async def _fail(seconds: float) -> str:
    await asyncio.sleep(seconds)
    raise ValueError("a defect")


async def _run(work: list[Coroutine[Any, Any, str]]) -> list[str]:
    return await run_together(iter(work), [asyncio.sleep(0)])


async def test_all_results_come_in_order(seen: list[str]) -> None:
    """Whichever is ready first."""
    assert await _run([_work(seen, "a", 2), _work(seen, "b", 1)]) == ["a", "b"]
    assert seen == ["b done", "a done"]


async def test_nothing_runs_on_when_one_fails(seen: list[str]) -> None:
    """Those that are not done are cancelled, and may tidy up; the error comes after that."""
    work = _run([_work(seen, "a", 0.5), _fail(1), _work(seen, "b", LONG, tidying=2)])

    assert await outcome(work) == (ValueError, 3.0)
    assert seen == ["a done", "b cancelled"]


async def test_nothing_runs_on_when_all_are_cancelled(seen: list[str]) -> None:
    """The last to tidy up is waited for, not the first."""
    work = asyncio.ensure_future(outcome(_run([_work(seen, "a", LONG), _work(seen, "b", LONG, tidying=2)])))
    running().call_later(1, work.cancel)

    assert await work == (asyncio.CancelledError, 3.0)
    assert seen == ["a cancelled", "b cancelled"]


async def test_nothing_is_nothing() -> None:
    """As in an empty batch."""
    assert await _run([]) == []


@tool
async def shout(text: str) -> str:
    """Repeat a text loudly."""
    return text.upper()


@tool
async def greet(user: Annotated[str, InjectedState("user")]) -> str:
    """Greet."""
    return f"Hi {user}"


@tool(timeout=5)
async def wait() -> None:
    """Wait for ever."""
    await asyncio.Event().wait()


@pytest.fixture
def pipeline() -> Pipeline:
    """Give a pipeline over three tools."""
    return make_pipeline([shout, greet, wait])


def _request(name: str, id: str, state: object = None, **args: object) -> CallRequest:
    return write_request(name, args, id=id, state=state)


async def test_a_batch_is_answered_in_order_and_each_call_alone_with_its_failure(pipeline: Pipeline) -> None:
    """What the caller owes to one call is an answer among the others."""
    messages = await run_all(
        pipeline,
        [
            _request("wait", "1"),
            _request("shout", "2", text="a"),
            _request("greet", "3"),
            _request("greet", "4", state={"user": "Bo"}),
            _request("nope", "5"),
            _request("shout", "6", text=1),
        ],
    )

    assert [(message.tool_call_id, message.content) for message in messages] == [
        ("1", "Error: wait timed out after 5 seconds."),
        ("2", "A"),
        ("3", "The tool needs `state.user` beside the call, for its parameter `user`."),
        ("4", "Hi Bo"),
        ("5", "Error: nope is not a valid tool, try one of [shout, greet, wait]."),
        ("6", "text: Input should be a string"),
    ]
    assert messages[2].response_metadata["error"]["kind"] == "missing_context"


async def test_others_have_a_turn_while_calls_of_a_batch_compute() -> None:
    """Those that have not begun wait for the next round of the event loop, and begin in their order."""
    seen: list[str] = []

    async def compute(request: CallRequest) -> ToolMessage:
        seen.append(request.call.id)
        until = monotonic() + 0.011  # A little more than a turn.
        while monotonic() < until:
            pass
        return ToolMessage(content="", tool_call_id=request.call.id)

    async def live_beside() -> None:
        for _ in range(20):
            seen.append("other")
            await asyncio.sleep(0)

    beside = asyncio.ensure_future(live_beside())
    calls = [_request("shout", str(number)) for number in range(5)]
    await run_batch(compute, lambda _: None, calls, keep, BatchThrottle())
    await beside

    assert [it for it in seen if it != "other"] == ["0", "1", "2", "3", "4"]
    assert all("other" in seen[seen.index(one) : seen.index(two)] for one, two in pairwise("01234"))


async def test_an_empty_batch_has_an_empty_answer(pipeline: Pipeline) -> None:
    """Nothing is run."""
    assert await run_all(pipeline, []) == []


@pytest.mark.parametrize(("size", "tasks"), [(1, 0), (2, 2)])
async def test_a_call_alone_in_its_batch_needs_no_task(size: int, tasks: int) -> None:
    """It runs in that of the request, as a single call does."""
    own = asyncio.current_task()
    seen: list[object] = []

    async def note(request: CallRequest) -> ToolMessage:
        seen.append(asyncio.current_task())
        return ToolMessage(content="", tool_call_id=request.call.id)

    calls = [_request("shout", str(number)) for number in range(size)]
    answers = await run_batch(note, lambda _: None, calls, keep, BatchThrottle())

    assert [answer.tool_call_id for answer in answers] == [call.call.id for call in calls]
    assert len(set(seen) - {own}) == tasks


@pytest.mark.parametrize("size", [1, 2])
async def test_a_call_that_something_of_its_own_cancels_is_answered(size: int) -> None:
    """The batch was not cancelled, and each of its calls has its answer."""

    async def end(request: CallRequest) -> ToolMessage:
        raise asyncio.CancelledError

    calls = [_request("shout", str(number)) for number in range(size)]
    answers = await run_batch(end, lambda _: None, calls, keep, BatchThrottle())

    assert [(it.tool_call_id, it.response_metadata["error"]["kind"]) for it in answers] == [
        (str(number), "execution_error") for number in range(size)
    ]


@pytest.mark.parametrize("size", [1, 2])
async def test_who_gives_a_batch_up_has_no_answer(size: int) -> None:
    """Whether its calls have tasks of their own or not."""

    async def wait(request: CallRequest) -> ToolMessage:
        await asyncio.Event().wait()
        return ToolMessage(content="", tool_call_id=request.call.id)

    calls = [_request("shout", str(number)) for number in range(size)]
    batch = asyncio.ensure_future(run_batch(wait, lambda _: None, calls, keep, BatchThrottle()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    batch.cancel()

    with pytest.raises(asyncio.CancelledError):
        await batch


async def test_many_batches_let_a_single_call_go_between_and_callers_take_turns(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of one caller begin one after the other."""
    began: list[str] = []

    async def run(request: CallRequest) -> ToolMessage:
        began.append(request.call.id)
        return ToolMessage("done", tool_call_id=request.call.id)

    async def send(name: str, caller: Caller, calls: int) -> None:
        requests = [_request("shout", name).copy_sent(caller=caller) for _ in range(calls)]
        await run_batch(run, Registry().get, requests, keep, portions)

    async def call() -> None:
        await asyncio.sleep(0)  # A request takes some turns of the loop until it is read.
        await asyncio.sleep(0)
        began.append("single")

    monkeypatch.setattr(
        "sidecall.kernel.pipeline.batch._TURN", inf
    )  # A slow machine would end some turns within a portion.
    portions, full, half = BatchThrottle(), PORTION * PORTIONS, PORTION * PORTIONS // 2
    ann, bob = Caller("ann"), Caller("bob")
    batches = [("a", ann, 2 * full), ("b", ann, full), ("c", bob, full)]
    await asyncio.gather(*(send(*batch) for batch in batches), call())
    single = began.index("single")
    began.remove("single")

    assert single <= 2 * full
    assert [(name, len(list(calls))) for name, calls in groupby(began)] == [
        ("a", full + half), ("c", half), ("a", half), ("c", half), ("b", full),
    ]  # fmt: skip


@pytest.mark.parametrize("seconds", [0, 0.002, 0.02], ids=["fast", "slow", "slower"])
@pytest.mark.parametrize("is_cancelled", [True, False], ids=["given up", "broken"])
async def test_a_batch_that_ends_early_begins_no_more_calls(
    pipeline: Pipeline, monkeypatch: pytest.MonkeyPatch, is_cancelled: bool, seconds: float
) -> None:
    """On a machine where each look at the clock takes so long, too; and the next one does not wait for it."""
    ticks = count()
    monkeypatch.setattr("sidecall.kernel.pipeline.batch.monotonic", lambda: next(ticks) * seconds)
    begun: list[str] = []

    async def run(request: CallRequest) -> ToolMessage:
        begun.append(request.call.id)
        if is_cancelled:
            batch.cancel()
            await asyncio.Event().wait()
        raise SystemError("a defect")

    portions = BatchThrottle()
    requests = [_request("shout", str(number), text="a") for number in range(4 * PORTION * PORTIONS)]
    batch = asyncio.ensure_future(run_batch(run, Registry().get, requests, keep, portions))
    with pytest.raises(asyncio.CancelledError if is_cancelled else SystemError):
        await batch
    after = await run_batch(pipeline.run, Registry().get, requests[:1], keep, portions)

    assert len(begun) <= PORTION * (PORTIONS + 1)
    assert [message.content for message in after] == ["A"]
