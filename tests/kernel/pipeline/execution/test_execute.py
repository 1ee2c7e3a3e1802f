"""A tool may fail in any way: the model gets a sentence, the operator the reason."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from sidecall import StructuredTool, ToolException, ToolGuardrailFunctionOutput, tool
from tests.kit.calls import run
from tests.kit.virtual_time import outcome, virtual_runner

SECRET = "canary-4711"
CRASHED = "Error: fail failed unexpectedly (call call_1). The details are in the server's log."


def _in_a_thread(error: Callable[[], BaseException]) -> StructuredTool:
    def fail() -> None:
        raise error()

    return tool("fail", description="Fail.")(fail)


def _inline(error: Callable[[], BaseException]) -> StructuredTool:
    def fail() -> None:
        raise error()

    return tool("fail", description="Fail.", executor="inline")(fail)


def _async(error: Callable[[], BaseException]) -> StructuredTool:
    async def fail() -> None:
        raise error()

    return tool("fail", description="Fail.")(fail)


def _async_in_a_thread(error: Callable[[], BaseException]) -> StructuredTool:
    async def fail() -> None:
        raise error()

    return tool("fail", description="Fail.", executor="thread")(fail)


EVERYWHERE = pytest.mark.parametrize("failing", [_in_a_thread, _inline, _async, _async_in_a_thread])


def _endless() -> int:
    return _endless() + 1


@EVERYWHERE
@pytest.mark.parametrize(
    "error",
    [
        ValueError,
        SystemExit,
        KeyboardInterrupt,
        StopIteration,
        StopAsyncIteration,
        GeneratorExit,
        asyncio.CancelledError,
        TimeoutError,
        MemoryError,
        RecursionError,
    ],
)
async def test_a_crash_of_any_kind_is_answered_without_its_reason(
    failing: Callable[..., StructuredTool], error: type[BaseException]
) -> None:
    """In a thread or on the loop; nothing of it takes the server down."""
    message = await run(failing(lambda: error(SECRET)))

    assert (message.content, message.status) == (CRASHED, "error")
    assert message.response_metadata["error"] == {
        "kind": "execution_error",
        "message": CRASHED,
        "retryable": False,
        "errors": [],
        "nearest": [],
        "retry_after_ms": None,
    }
    assert SECRET not in message.model_dump_json()


@pytest.mark.parametrize("executor", ["inline", "thread"])
async def test_an_endless_recursion_is_a_crash(executor: str) -> None:
    """The interpreter's own limit stops it."""
    message = await run(tool("fail", description="Fail.", executor=executor)(_endless))

    assert message.content == CRASHED


@EVERYWHERE
@pytest.mark.parametrize(
    ("error", "content", "retryable", "retry_after_ms"),
    [
        (lambda: ToolException("No such city."), "No such city.", False, None),
        (lambda: ToolException(), "Tool execution error", False, None),
        (lambda: ToolException({"code": 7}), '{"code": 7}', False, None),
        (lambda: ToolException("Busy.", retryable=True), "Busy.", True, None),
        (lambda: ToolException("Busy.", retry_after=1.5), "Busy.", True, 1500),
        # no UTF-8 form
        (lambda: ToolException("a\ud800b"), "a?b", False, None),
    ],
)
async def test_a_tool_exception_is_read_by_the_model(
    failing: Callable[..., StructuredTool],
    error: Callable[[], BaseException],
    content: str,
    retryable: bool,
    retry_after_ms: int | None,
) -> None:
    """Its author wrote it for that."""
    message = await run(failing(error))

    assert (message.content, message.status) == (content, "error")
    assert message.response_metadata["error"] == {
        "kind": "tool_error",
        "message": content,
        "retryable": retryable,
        "errors": [],
        "nearest": [],
        "retry_after_ms": retry_after_ms,
    }


async def test_a_tool_exception_with_bytes_is_still_an_answer() -> None:
    """What its author put in must not take the call down."""
    message = await run(_async(lambda: ToolException({"raw": b"\xff"})))

    assert message.status == "error"
    assert message.response_metadata["error"]["kind"] == "tool_error"


async def test_a_tool_past_its_deadline_is_stopped() -> None:
    """The model is told how long it was waited for, and may try again."""
    stopped = asyncio.Event()

    @tool(timeout=0.01)
    async def wait() -> None:
        """Wait for ever."""
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    message = await run(wait)

    assert message.content == "Error: wait timed out after 0.01 seconds."
    assert message.response_metadata["error"]["kind"] == "timeout"
    assert message.response_metadata["error"]["retryable"] is True
    assert stopped.is_set()


async def test_a_tools_own_timeout_is_not_our_deadline() -> None:
    """It is a crash like any other, with time left."""

    @tool(timeout=1000)
    async def fail() -> None:
        """Give up soon."""
        async with asyncio.timeout(0):
            await asyncio.Event().wait()

    message = await run(fail)

    assert message.response_metadata["error"]["kind"] == "execution_error"


async def test_a_cancelled_task_inside_a_tool_is_a_crash() -> None:
    """Nobody cancelled the call."""

    @tool
    async def fail() -> None:
        """Wait for what was cancelled."""
        inner = asyncio.ensure_future(asyncio.Event().wait())
        inner.cancel()
        await inner

    assert (await run(fail)).content == CRASHED


async def test_a_call_that_is_cancelled_from_outside_ends_as_cancelled() -> None:
    """The caller has gone; there is nobody to answer."""
    started, stopped = asyncio.Event(), asyncio.Event()

    @tool(timeout=1000)
    async def wait() -> None:
        """Wait for ever."""
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    call = asyncio.ensure_future(run(wait))
    await started.wait()
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    assert stopped.is_set()


async def test_the_operator_gets_the_traceback_and_the_id(caplog: pytest.LogCaptureFixture) -> None:
    """One line, with what the model must not see."""
    caplog.set_level(logging.INFO, "sidecall")

    await run(_async(lambda: ValueError(SECRET)))
    (record,) = [entry for entry in caplog.records if entry.name == "sidecall"]

    assert record.levelname == "ERROR"
    assert record.getMessage().startswith("tool fail failed: execution_error (call call_1, invocation ")
    assert SECRET in caplog.text


@pytest.mark.parametrize("executor", ["inline", "thread"])
async def test_a_sync_function_may_return_something_to_await(executor: Any) -> None:
    """Many wrappers hide that what they wrap is async."""

    async def later() -> str:
        return "done"

    message = await run(tool("wrapped", description="Wait.", executor=executor)(lambda: later()))

    assert message.content == "done"


async def test_a_tool_that_answers_too_late_has_not_answered() -> None:
    """Even if it makes light of being stopped."""

    @tool(timeout=0.01)
    async def stubborn() -> str:
        """Answer late."""
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return "late"
        return "never"

    assert (await run(stubborn)).content == "Error: stubborn timed out after 0.01 seconds."


async def test_a_tool_that_fails_while_it_is_stopped_has_timed_out() -> None:
    """Its clean-up is not why the call failed."""

    @tool(timeout=0.01)
    async def clumsy() -> None:
        """Fail late."""
        try:
            await asyncio.Event().wait()
        finally:
            raise ToolException("clean-up failed")

    message = await run(clumsy)

    assert message.content == "Error: clumsy timed out after 0.01 seconds."
    assert message.response_metadata["error"]["kind"] == "timeout"


def test_the_time_of_a_call_is_not_only_its_tools() -> None:
    """What guardrails have used up is gone."""

    async def dawdle(data: Any) -> ToolGuardrailFunctionOutput:
        await asyncio.sleep(2)
        return ToolGuardrailFunctionOutput.allow(data.context.remaining)

    @tool(timeout=3, tool_input_guardrails=[dawdle])
    async def wait() -> None:
        """Wait a little less than the call may take."""
        await asyncio.sleep(2.5)

    with virtual_runner() as runner:
        message, seconds = runner.run(outcome(run(wait)))

    assert (message.content, seconds) == ("Error: wait timed out after 3 seconds.", 3)


def _block() -> None:
    time.sleep(0.05)


async def _sleep_at_once() -> str:
    _block()
    return "late"


async def _sleep_later() -> str:
    await asyncio.sleep(0)
    _block()
    return "late"


async def _sleep_and_wait() -> str:
    _block()
    await asyncio.sleep(0)
    return "late"


async def _sleep_and_fail() -> str:
    _block()
    raise ValueError("late")


async def _sleep_and_say_so() -> str:
    await asyncio.sleep(0)
    _block()
    raise ToolException("late")


async def _sleep_between_parts() -> AsyncIterator[str]:
    yield "a"
    _block()
    yield "b"


def _sleep_inline() -> str:
    _block()
    return "late"


@pytest.mark.parametrize(
    "function",
    [
        _sleep_at_once,
        _sleep_later,
        _sleep_and_wait,
        _sleep_and_fail,
        _sleep_and_say_so,
        _sleep_between_parts,
        _sleep_inline,
    ],
)
async def test_an_answer_that_comes_after_the_deadline_is_a_timeout(function: Callable[[], Any]) -> None:
    """What blocks the event loop cannot be interrupted, but it has not answered in time."""
    blocking = tool("block", description="Block.", executor="inline", timeout=0.01)(function)

    message = await run(blocking)

    assert message.status == "error"
    assert message.response_metadata["error"]["kind"] == "timeout"
