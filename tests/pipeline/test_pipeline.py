"""Every door leads through the same stages."""

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

import pytest

from app import InjectedState, Registry, ToolCall, tool
from app.core.errors import MissingContext
from app.core.invocation import CallRequest
from app.executors.inline import InlineExecutor
from app.executors.thread import ThreadExecutor
from app.pipeline.pipeline import Pipeline, default_stages


@tool
async def search_web(query: str) -> str:
    """Search."""
    return query.upper()


@tool
async def greet(user: Annotated[str, InjectedState("user")]) -> str:
    """Greet."""
    return f"Hi {user}"


@tool
async def wait() -> None:
    """Wait for ever."""
    await asyncio.Event().wait()


@pytest.fixture
async def pipeline() -> AsyncIterator[Pipeline]:
    """Give a pipeline over three tools."""
    threads = ThreadExecutor(1)
    registry = Registry([search_web.compiled, greet.compiled, wait.compiled])
    yield Pipeline(registry, default_stages({"inline": InlineExecutor(), "thread": threads}), 0.01)
    await threads.close()


def _request(name: str, id: str = "call_1", state: object = None, **args: object) -> CallRequest:
    return CallRequest(ToolCall(name=name, args=args, id=id), state=state)


async def test_a_call_finds_its_tool_by_name(pipeline: Pipeline) -> None:
    """And is answered under its own id."""
    message = await pipeline.run(_request("search_web", query="a"))

    assert (message.content, message.name, message.tool_call_id) == ("A", "search_web", "call_1")


async def test_a_name_that_does_not_exist_is_told_to_the_model(pipeline: Pipeline) -> None:
    """With all names, and apart from them those that look like it."""
    message = await pipeline.run(_request("serch_web"))
    text = "Error: serch_web is not a valid tool, try one of [search_web, greet, wait]."

    assert (message.content, message.status, message.name) == (text, "error", "serch_web")
    assert message.response_metadata == {
        "duration_ms": 0.0,
        "return_direct": False,
        "ignored_args": [],
        "repaired": [],
        "error": {
            "kind": "unknown_tool",
            "message": text,
            "retryable": False,
            "errors": [],
            "nearest": ["search_web"],
            "retry_after_ms": None,
        },
    }


async def test_the_servers_timeout_holds_for_tools_without_their_own(pipeline: Pipeline) -> None:
    """Nothing waits for ever by default."""
    message = await pipeline.run(_request("wait"))

    assert message.content == "Error: wait timed out after 0.01 seconds."


async def test_what_the_caller_owes_goes_to_the_caller(pipeline: Pipeline) -> None:
    """A single call has one place to say it."""
    with pytest.raises(MissingContext):
        await pipeline.run(_request("greet"))


async def test_a_batch_is_answered_in_order_and_each_call_alone_with_its_failure(pipeline: Pipeline) -> None:
    """What the caller owes to one call is an answer among the others."""
    messages = await pipeline.run_all(
        [
            _request("wait", "1"),
            _request("search_web", "2", query="a"),
            _request("greet", "3"),
            _request("greet", "4", state={"user": "Bo"}),
            _request("nope", "5"),
            _request("search_web", "6", query=1),
        ]
    )

    assert [(message.tool_call_id, message.content) for message in messages] == [
        ("1", "Error: wait timed out after 0.01 seconds."),
        ("2", "A"),
        ("3", "The tool needs `state.user` beside the call, for its parameter `user`."),
        ("4", "Hi Bo"),
        ("5", "Error: nope is not a valid tool, try one of [search_web, greet, wait]."),
        ("6", "query: Input should be a valid string"),
    ]
    assert messages[2].response_metadata["error"]["kind"] == "missing_context"


async def test_an_empty_batch_has_an_empty_answer(pipeline: Pipeline) -> None:
    """Nothing is run."""
    assert await pipeline.run_all([]) == []
