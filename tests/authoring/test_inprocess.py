"""A tool runs in a test as it runs on the server."""

import uuid
from typing import Any

import pytest

from app import ToolCall, ToolException, tool
from app.core.errors import InvalidArguments, ToolExecutionError


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
        (fail, {"how": "badly"}, ToolExecutionError),
        (double, {"number": "x"}, InvalidArguments),
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
