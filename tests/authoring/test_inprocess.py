"""A tool runs in a test as it runs on the server."""

import asyncio
import uuid
from contextlib import suppress
from typing import Any

import pytest
from pydantic import ValidationError

from sidecall import (
    ToolCall,
    ToolException,
    ToolGuardrailFunctionOutput,
    tool,
)
from sidecall.kernel.core.errors import (
    CallDenied,
    GuardrailTripped,
    ToolCallFailed,
    ToolExecutionError,
)
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from tests.kit.calls import run


@tool
def double(number: int) -> dict[str, int]:
    """Double."""
    return {"doubled": number * 2}


@tool(response_format="content_and_artifact")
def draw(color: str) -> tuple[str, bytes]:
    """Draw."""
    return f"a {color} picture", b"\x00"


@tool
def fail(how: str) -> None:
    """Fail."""
    if how == "politely":
        raise ToolException("No.", retryable=True)
    raise ValueError("secret")


@pytest.mark.parametrize(
    "call",
    [
        pytest.param({"type": "tool_call", "name": "double", "args": {"number": 2}, "id": "call_1"}, id="dict"),
        pytest.param({"type": "tool_call", "name": "double", "args": '{"number": 2}', "id": "call_1"}, id="text args"),
        pytest.param(ToolCall(name="double", args={"number": 2}, id="call_1"), id="ToolCall"),
    ],
)
async def test_a_tool_call_is_answered_with_a_tool_message(call: Any) -> None:
    """The same as over HTTP."""
    message = await double.ainvoke(call)

    assert (message.content, message.status, message.artifact) == ('{"doubled": 4}', "success", None)
    assert (message.tool_call_id, message.name) == ("call_1", "double")
    assert uuid.UUID(message.id).version == 7
    assert message.response_metadata.keys() == {"duration_ms", "return_direct", "ignored_args", "repaired"}


async def test_a_call_without_id_gets_one() -> None:
    """As on the server."""
    message = await double.ainvoke({"type": "tool_call", "name": "double", "args": {"number": 2}})

    assert message.tool_call_id.startswith("call_")


async def test_plain_arguments_are_answered_with_the_plain_result() -> None:
    """As in LangChain; of a pair it is the content."""
    assert await double.ainvoke({"number": "2"}) == {"doubled": 4}
    assert await draw.ainvoke({"color": "red"}) == "a red picture"


@pytest.mark.parametrize(
    ("offered", "args", "expected"),
    [
        (fail, {"how": "politely"}, ToolException),
        (fail, {"how": "badly"}, ValueError),  # As the function has raised it.
        (double, {"number": "x"}, ValidationError),
    ],
)
async def test_plain_arguments_let_the_failure_through(
    offered: Any, args: dict[str, str], expected: type[Exception]
) -> None:
    """A test can assert it."""
    with pytest.raises(expected):
        await offered.ainvoke(args)


def test_invoke_works_without_an_event_loop() -> None:
    """In a script or a sync test."""
    assert double.invoke({"number": 2}) == {"doubled": 4}


async def test_invoke_works_inside_an_event_loop() -> None:
    """Which it blocks, as sync code does."""
    assert double.invoke({"number": 2}) == {"doubled": 4}


def refuse(data: Any) -> ToolGuardrailFunctionOutput:
    """Refuse the call."""
    return ToolGuardrailFunctionOutput.reject_content("No.")


def trip(data: Any) -> ToolGuardrailFunctionOutput:
    """Refuse the request."""
    return ToolGuardrailFunctionOutput.raise_exception()


def clean(data: Any) -> ToolGuardrailFunctionOutput:
    """Change the output."""
    return ToolGuardrailFunctionOutput.replace("clean")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"requires_approval": True}, ApprovalRequired),
        ({"tool_input_guardrails": [refuse]}, CallDenied),
        ({"tool_output_guardrails": [refuse]}, CallDenied),
        ({"tool_output_guardrails": [trip]}, GuardrailTripped),
    ],
)
async def test_plain_arguments_are_held_to_the_same_rules(options: Any, expected: type[Exception]) -> None:
    """No way around what stands between model and tool."""

    @tool(**options)
    async def work() -> str:
        """Work."""
        return "done"

    with pytest.raises(expected):
        await work.ainvoke({})


async def test_a_plain_result_has_been_judged() -> None:
    """What a guardrail made of it is what one gets."""

    @tool(tool_output_guardrails=[clean])
    async def work() -> str:
        """Work."""
        return "dirty"

    assert await work.ainvoke({}) == "clean"


async def test_a_failure_that_goes_through_has_its_cause() -> None:
    """A test can look at it, for a ToolCall and for plain arguments."""

    @tool(handle_tool_error=None)
    async def work() -> str:
        """Work."""
        raise ValueError("secret")

    with pytest.raises(ToolCallFailed) as of_call:
        await run(work)
    with pytest.raises(ToolCallFailed):
        await work.ainvoke({})

    assert isinstance(of_call.value.__cause__, ToolExecutionError)
    assert isinstance(of_call.value.__cause__.__cause__, ValueError)


@pytest.mark.parametrize("call", [{}, {"type": "tool_call", "args": {}, "id": "call_1"}], ids=["plain", "call"])
async def test_a_call_can_be_approved_by_whoever_makes_it(call: Any) -> None:
    """There is no other person; sync code may do so too."""

    @tool(requires_approval=True)
    async def work() -> str:
        """Work."""
        return "done"

    approved = await work.ainvoke(call, approved=True)
    synchronously = work.invoke(call, approved=True)

    assert getattr(approved, "content", approved) == "done"
    assert getattr(synchronously, "content", synchronously) == "done"


@tool(timeout=0.01)
async def stubborn() -> None:
    """Set a limit of its own, and take no notice of any."""
    with suppress(TimeoutError):
        async with asyncio.timeout(0.2):
            while True:
                with suppress(asyncio.CancelledError):
                    await asyncio.sleep(0.05)
                    return


async def test_what_a_tool_leaves_behind_does_not_cancel_its_caller() -> None:
    """Timers that it set belong to a task of the call's own."""
    message = await run(stubborn)
    await asyncio.sleep(0.25)

    assert message.response_metadata["error"]["kind"] == "timeout"


@pytest.mark.parametrize("fails", [False, True])
async def test_an_answer_keeps_to_the_tools_own_budget(fails: bool) -> None:
    """The model reads as much of it as on the server; there is nobody to keep the whole."""

    @tool(max_content_bytes=200)
    async def chatter() -> str:
        """Say much."""
        if fails:
            raise ToolException("x" * 1000)
        return "x" * 1000

    message = await run(chatter)

    assert message.content == "x" * 85 + "\n[… 830 bytes left out …]\n" + "x" * 85
    assert (message.response_metadata["truncated"], message.response_metadata["artifact_url"]) == (True, None)


async def test_a_plain_result_is_whole() -> None:
    """It is no answer to a model."""

    @tool(max_content_bytes=200)
    async def chatter() -> str:
        """Say much."""
        return "x" * 1000

    assert await chatter.ainvoke({}) == "x" * 1000


async def test_calls_in_process_do_not_wait_for_each_other() -> None:
    """Each has a pipeline of its own; who counts calls is the server."""
    both = asyncio.Barrier(2)

    @tool(sequential=True, timeout=20)
    async def meet() -> str:
        """Meet the other."""
        await both.wait()
        return "met"

    assert await asyncio.gather(meet.ainvoke({}), meet.ainvoke({})) == ["met", "met"]
