"""Calls are written and run as the tests expect."""

from tests.kit.calls import run, write_call
from tests.kit.tools import echo, ping


def test_a_call_may_have_arguments_of_any_name() -> None:
    """Also `name`; only `id` is the call's own."""
    assert write_call("a", name="b", id="c") == {"type": "tool_call", "name": "a", "args": {"name": "b"}, "id": "c"}


async def test_a_tool_runs_through_the_pipeline() -> None:
    """The result is a message."""
    message = await run(echo, {"text": "hi"})

    assert (message.content, message.tool_call_id, (await run(ping)).content) == ("hi", "call_1", "pong")


async def test_arguments_that_are_no_object_are_sent_too() -> None:
    """Their answer is an error."""
    message = await run(echo, {"text": 1})

    assert message.response_metadata["error"]["kind"] == "invalid_arguments"
