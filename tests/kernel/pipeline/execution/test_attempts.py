"""A tool that does no harm when it runs twice is tried again, within its deadline."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

import pytest

from sidecall import Retry, StructuredTool, ToolAnnotations, ToolException, ToolMessage, tool
from sidecall.kernel.executors.thread_pool import ThreadExecutor
from tests.kit.calls import run, write_request
from tests.kit.pipelines import make_pipeline
from tests.kit.virtual_time import now, outcome, running

pytestmark = pytest.mark.virtual_time

IDEMPOTENT = ToolAnnotations(idempotent=True)
Work = Callable[[int], Any]


class Flaky:
    """Work as a test says, knowing the number of the attempt, and remember when each began."""

    def __init__(self, work: Work, **options: Any) -> None:
        self._work = work
        self.began: list[float] = []
        self.tool: StructuredTool = tool("flaky", description="Work.", annotations=IDEMPOTENT, **options)(self._run)

    async def _run(self) -> Any:
        self.began.append(now())
        result = self._work(len(self.began))
        return await result if asyncio.iscoroutine(result) else result

    async def call(self) -> ToolMessage:
        """Answer a call."""
        return await make_pipeline([self.tool]).run(write_request("flaky"))

    @property
    def pauses(self) -> list[float]:
        """Seconds between the attempts."""
        return [round(later - earlier, 6) for earlier, later in zip(self.began, self.began[1:], strict=False)]


def _fail(error: BaseException) -> Any:
    raise error


def _succeed_at(attempt: int, error: BaseException) -> Work:
    return lambda number: "done" if number == attempt else _fail(error)


@pytest.mark.parametrize("attempt", [1, 2, 4])
async def test_a_tool_is_tried_until_it_succeeds(attempt: int) -> None:
    """The answer says how often it was run."""
    flaky = Flaky(_succeed_at(attempt, ConnectionError()), retry=Retry(attempts=4, wait=0))

    message = await flaky.call()

    assert (message.content, message.response_metadata["attempts"]) == ("done", attempt)
    assert len(flaky.began) == attempt


async def test_a_tool_is_not_tried_more_often_than_its_author_says() -> None:
    """Its last failure is answered, as if it were the only one."""
    flaky = Flaky(lambda number: _fail(ToolException(f"Busy {number}.", retry_after=2)), retry=Retry(wait=0))

    message = await flaky.call()

    assert message.content == "Busy 3."
    assert message.response_metadata["attempts"] == 3
    assert message.response_metadata["error"] == {
        "kind": "tool_error",
        "message": "Busy 3.",
        "retryable": True,
        "errors": [],
        "nearest": [],
        "retry_after_ms": 2000,
    }


async def test_a_crash_that_stays_is_a_crash() -> None:
    """Its words are the same as without attempts."""
    flaky = Flaky(lambda _: _fail(ConnectionError("canary-4711")), retry=Retry(attempts=2, wait=0))

    message = await flaky.call()

    assert message.content == "Error: flaky failed unexpectedly (call call_1). The details are in the server's log."
    assert (message.response_metadata["error"]["kind"], message.response_metadata["attempts"]) == ("execution_error", 2)


async def test_a_tool_without_it_is_run_once() -> None:
    """And says nothing of attempts."""
    flaky = Flaky(_succeed_at(2, ConnectionError()))

    message = await flaky.call()

    assert (message.status, len(flaky.began)) == ("error", 1)
    assert "attempts" not in message.response_metadata


@pytest.mark.parametrize(
    ("error", "on", "count"),
    [
        pytest.param(ConnectionError(), (OSError,), 2, id="named, by what it derives from"),
        pytest.param(KeyError(), (OSError,), 1, id="not named"),
        pytest.param(ToolException("Busy.", retryable=True), (Exception,), 2, id="retryable"),
        pytest.param(ToolException("No."), (Exception,), 1, id="not retryable"),
        pytest.param(ToolException("Busy.", retryable=True), (OSError,), 1, id="retryable, but not named"),
        pytest.param(asyncio.CancelledError(), (Exception,), 1, id="cancelled"),
        pytest.param(SystemExit(), (Exception,), 1, id="what ends programs"),
        pytest.param(StopAsyncIteration(), (Exception,), 2, id="what ends loops"),
    ],
)
async def test_only_some_failures_are_worth_another_attempt(
    error: BaseException, on: tuple[type[Exception], ...], count: int
) -> None:
    """Those that the author names."""
    flaky = Flaky(lambda _: _fail(error), retry=Retry(attempts=2, wait=0, on=on))

    message = await flaky.call()

    assert (message.status, len(flaky.began)) == ("error", count)


async def test_arguments_that_do_not_fit_are_no_failure_of_the_tool() -> None:
    """They would not fit the next time either; the tool is never run."""
    begun: list[int] = []

    @tool(retry=Retry(wait=0), annotations=IDEMPOTENT)
    async def double(number: int) -> int:
        """Double."""
        begun.append(number)
        return 2 * number

    message = await double.ainvoke({"type": "tool_call", "name": "double", "args": {"number": "x"}, "id": "1"})

    assert (message.response_metadata["error"]["kind"], begun) == ("invalid_arguments", [])
    assert "attempts" not in message.response_metadata


async def test_the_pauses_double_up_to_the_longest() -> None:
    """With up to the first of them at random on top, so that callers do not come all at once."""
    flaky = Flaky(lambda _: _fail(OSError()), retry=Retry(attempts=6, wait=1, max_wait=5))

    await flaky.call()
    first, second, third, *others = flaky.pauses

    assert len(flaky.began) == 6
    assert (1 <= first <= 2, 2 <= second <= 3, 4 <= third <= 5) == (True, True, True)
    assert others == [5, 5]


async def test_no_pause_may_be_wanted() -> None:
    """For failures that pass at once."""
    flaky = Flaky(lambda _: _fail(OSError()), retry=Retry(attempts=4, wait=0))

    await flaky.call()

    assert flaky.pauses == [0, 0, 0]


async def test_the_deadline_stands_over_all_attempts() -> None:
    """Also over the pauses between them."""
    flaky = Flaky(lambda _: _fail(OSError()), timeout=10, retry=Retry(attempts=100, wait=4, max_wait=4))

    message, seconds = await outcome(flaky.call())

    assert message.content == "Error: flaky timed out after 10 seconds."
    assert message.response_metadata["attempts"] == 3
    assert 9.9 < seconds <= 10


async def _stopped() -> None:
    try:
        await asyncio.sleep(60)
    except asyncio.CancelledError:
        raise ConnectionError("lost") from None


async def test_an_attempt_that_the_deadline_ends_is_the_last() -> None:
    """No matter what the tool says when it is stopped."""
    flaky = Flaky(lambda _: _stopped(), timeout=10, retry=Retry(attempts=9, wait=0))

    message = await flaky.call()
    await asyncio.sleep(100)

    assert message.response_metadata["error"]["kind"] == "timeout"
    assert (message.response_metadata["attempts"], len(flaky.began)) == (1, 1)


@pytest.mark.parametrize("work", [lambda _: asyncio.sleep(60), lambda _: _stopped()], ids=["plain", "converted"])
async def test_a_call_that_is_cancelled_is_not_tried_again(work: Work) -> None:
    """Nobody waits for it any more, no matter what the tool says when it is stopped."""
    flaky = Flaky(work, retry=Retry(attempts=9, wait=0))
    task = asyncio.ensure_future(outcome(flaky.call()))
    running().call_later(1, task.cancel)

    _, seconds = await task

    assert (seconds, len(flaky.began)) == (1, 1)


async def test_a_call_that_is_cancelled_between_attempts_is_not_tried_again() -> None:
    """The pause ends at once."""
    flaky = Flaky(lambda _: _fail(OSError()), retry=Retry(attempts=9, wait=5))
    task = asyncio.ensure_future(outcome(flaky.call()))
    running().call_later(1, task.cancel)

    assert await task == (asyncio.CancelledError, 1)
    assert len(flaky.began) == 1


@pytest.fixture
async def threads() -> AsyncIterator[ThreadExecutor]:
    """Give a thread for sync tools."""
    executor = ThreadExecutor(1)
    yield executor
    await executor.close()


@pytest.mark.parametrize("anyio_backend", ["asyncio"])
async def test_sync_tools_are_tried_again_too(threads: ThreadExecutor) -> None:
    """In their thread."""
    begun: list[int] = []

    @tool(retry=Retry(attempts=3, wait=0), annotations=IDEMPOTENT)
    def flaky() -> str:
        """Work."""
        begun.append(1)
        return "done" if len(begun) == 3 else _fail(OSError())

    pipeline = make_pipeline([flaky], {"thread": threads})
    message = await pipeline.run(write_request("flaky"))

    assert (message.content, message.response_metadata["attempts"]) == ("done", 3)


async def test_calls_count_their_attempts_apart() -> None:
    """The next call begins with its first."""
    flaky = Flaky(lambda number: "done" if number > 2 else _fail(OSError()), retry=Retry(wait=0))

    first = await flaky.call()
    second = await flaky.call()

    assert (first.response_metadata["attempts"], second.response_metadata["attempts"]) == (3, 1)


async def test_many_callers_do_not_come_back_at_the_same_moment() -> None:
    """Each waits for a while of its own, between once and twice the time that was said."""
    began: list[float] = []

    @tool(retry=Retry(attempts=2, wait=1.0), annotations=IDEMPOTENT)
    async def fail() -> None:
        """Fail."""
        began.append(now())
        raise OSError

    for _ in range(5):
        await run(fail)
    pauses = [round(later - earlier, 6) for earlier, later in zip(began[::2], began[1::2], strict=True)]

    assert len(set(pauses)) > 1
    assert 1.0 <= min(pauses) <= max(pauses) <= 2.0


async def test_a_tool_that_was_left_to_itself_is_not_tried_again() -> None:
    """It failed when nobody waited for it any more."""
    began: list[float] = []

    @tool(retry=Retry(attempts=3, wait=0.0), annotations=IDEMPOTENT, timeout=1)
    async def linger() -> None:
        """Outlive the deadline, and fail."""
        began.append(now())
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(5)
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(5)
        await asyncio.sleep(5)
        raise OSError

    message = await run(linger)
    await asyncio.sleep(60)

    assert message.response_metadata["error"]["kind"] == "timeout"
    assert began == [0.0]
