"""Handlers hear of every call that does not end well, and one that fails itself harms no call."""

import asyncio
import logging
from typing import Any

import pytest

from sidecall import StructuredTool, ToolException, ToolGuardrailFunctionOutput, ToolMessage, tool
from sidecall.kernel.core.errors import CallDenied, GuardrailTripped, ToolTimeout
from tests.kit.calls import run


class Diary:
    """Write down which events there were."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def on_tool_start(self, serialized: Any, input_str: str) -> None:
        """Note a start."""
        self.heard.append(f"start {serialized['name']} {input_str}")

    def on_tool_end(self, output: ToolMessage) -> None:
        """Note an end."""
        self.heard.append(output.content)

    def on_tool_error(self, error: BaseException) -> None:
        """Note an error."""
        self.heard.append(type(error))


START = "start work {}"


def _working(*handlers: Any, how: str = "well", **options: Any) -> StructuredTool:
    @tool("work", callbacks=list(handlers), **options)
    async def work() -> Any:
        """Work."""
        if how == "hang":
            await asyncio.Event().wait()
        if how == "badly":
            raise ToolException("No.")
        return "done"

    return work


def refuse(data: Any) -> ToolGuardrailFunctionOutput:
    """Refuse the call."""
    return ToolGuardrailFunctionOutput.reject_content("No.")


def trip(data: Any) -> ToolGuardrailFunctionOutput:
    """Refuse the request."""
    return ToolGuardrailFunctionOutput.raise_exception()


FAILURES: list[Any] = [
    pytest.param({"how": "hang", "timeout": 0.01}, ToolTimeout, id="timeout"),
    pytest.param({"how": "hang", "timeout": 0.01, "timeout_behavior": "raise"}, ToolTimeout, id="raised timeout"),
    pytest.param({"tool_input_guardrails": [refuse]}, CallDenied, id="refused"),
    pytest.param({"tool_output_guardrails": [refuse]}, CallDenied, id="refused output"),
    pytest.param({"tool_input_guardrails": [trip]}, GuardrailTripped, id="tripped"),
    pytest.param({"tool_output_guardrails": [trip]}, GuardrailTripped, id="tripped by the output"),
    pytest.param({"how": "badly", "tool_output_guardrails": [trip]}, GuardrailTripped, id="tripped by the failure"),
]


@pytest.mark.parametrize(("options", "error"), FAILURES)
async def test_a_call_that_does_not_end_well_is_a_start_and_an_error(options: Any, error: type) -> None:
    """Once each, no matter who is told what."""
    diary = Diary()

    await asyncio.gather(run(_working(diary, **options)), return_exceptions=True)

    assert diary.heard == [START, error]


async def test_a_call_that_is_cancelled_is_an_error() -> None:
    """Otherwise its run would never end for those who listen."""
    diary, started = Diary(), asyncio.Event()

    @tool(callbacks=[diary], timeout=1000)
    async def work() -> None:
        """Wait for ever."""
        started.set()
        await asyncio.Event().wait()

    call = asyncio.ensure_future(run(work))
    await started.wait()
    call.cancel()

    with pytest.raises(asyncio.CancelledError):
        await call
    assert diary.heard == [START, asyncio.CancelledError]


def _crashing(error: type[BaseException], *, later: bool) -> Any:
    def fail(*_: Any) -> None:
        raise error("handler is broken")

    async def fail_later(*_: Any) -> None:
        raise error("handler is broken")

    methods = dict.fromkeys(
        ("on_tool_start", "on_tool_end", "on_tool_error"), staticmethod(fail_later if later else fail)
    )
    return type("Crashing", (), methods)()


@pytest.mark.parametrize(("how", "content"), [("well", "done"), ("badly", "No.")])
@pytest.mark.parametrize("later", [False, True], ids=["thread", "async"])
@pytest.mark.parametrize("error", [RuntimeError, asyncio.CancelledError, GeneratorExit])
async def test_a_handler_that_crashes_harms_neither_the_call_nor_other_handlers(
    error: type[BaseException], later: bool, how: str, content: str
) -> None:
    """In any way, at the start, at the end and at an error."""
    diary = Diary()

    message = await run(_working(_crashing(error, later=later), diary, how=how))

    assert message.content == content
    assert diary.heard[0] == START
    assert len(diary.heard) == 2


async def test_a_crash_of_a_handler_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """With the event and the call."""
    caplog.set_level(logging.ERROR, "sidecall")

    await run(_working(_crashing(RuntimeError, later=False)))

    assert caplog.messages == [
        "a callback (on_tool_start) of tool work failed (call call_1)",
        "a callback (on_tool_end) of tool work failed (call call_1)",
    ]
    assert "RuntimeError: handler is broken" in caplog.text


async def test_a_thread_that_raises_stop_iteration_is_not_waited_for() -> None:
    """A future cannot hold it, so that what waits for the future waits in vain."""
    async with asyncio.timeout(30):
        message = await run(_working(_crashing(StopIteration, later=False)))

    assert message.content == "done"


async def test_a_handler_that_takes_too_little_is_a_crash(caplog: pytest.LogCaptureFixture) -> None:
    """The call goes on."""

    class Narrow:
        def on_tool_end(self) -> None: ...

    assert (await run(_working(Narrow()))).content == "done"
    assert "a callback (on_tool_end) of tool work failed (call call_1)" in caplog.messages


class Redacting:
    """Change what it is given, as if it were its own."""

    def on_tool_start(self, *_: Any, inputs: Any, tags: Any, metadata: Any) -> None:
        """Take the password out before it is written down."""
        inputs["options"]["password"] = "***"
        inputs["new"] = 1
        tags.append("seen")
        metadata["seen"] = True

    def on_tool_end(self, output: ToolMessage) -> None:
        """Shorten the answer."""
        output.content = "***"


async def test_a_handler_changes_neither_arguments_nor_answer() -> None:
    """To redact before logging is common; the tool must not run with what is logged."""

    @tool(callbacks=[Redacting()], tags=["a"], metadata={"b": 1})
    async def connect(options: Any) -> Any:
        """Connect."""
        return options["password"]

    message = await connect.ainvoke({"type": "tool_call", "args": {"options": {"password": "right"}}})

    assert message.content == "right"
    assert (connect.compiled.options.tags, connect.compiled.options.metadata) == (("a",), {"b": 1})
