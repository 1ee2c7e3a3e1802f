"""The body of a request becomes the bytes of its answer, whichever way it came."""

import asyncio
import json
from typing import Any

import pytest

from sidecall import Registry, ToolContext, tool
from sidecall.features.server_parts import Parts
from sidecall.http.context import RequestContext
from sidecall.http.disconnect import DisconnectListener
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import MalformedJSON, NotAToolCall
from sidecall.kernel.core.overload import TooManyCalls
from sidecall.kernel.core.sender import Deadline
from sidecall.main import create_app
from sidecall.rest.answers import answer_call, answer_calls
from sidecall.rest.dialect_readers import read_call
from sidecall.rest.parsed_call import make_request
from sidecall.rest.plain_calls import read_other_call
from sidecall.settings import Settings
from tests.kit.asgi import Peer

NO_TOOLS = Registry()
CONTEXT = RequestContext({"x-tenant": "acme"})


@tool
async def look(text: str, context: ToolContext) -> list[Any]:
    """Tell what came."""
    return [text, context.state, dict(context.context), dict(context.headers)]


@tool(requires_approval=True)
async def delete() -> str:
    """Wait for a person."""
    return "deleted"


@pytest.fixture
def parts() -> Parts:
    """Give the parts of a server."""
    made: Parts = create_app(Settings(), Registry([look, delete])).state.parts
    return made


def _body(name: str = "look", **beside: Any) -> bytes:
    return json.dumps({"name": name, "args": {"text": "ü"}, "id": "call_1", **beside}).encode()


async def test_a_call_is_answered_with_a_message(parts: Parts) -> None:
    """In the dialect of the call, with everything that came beside it."""
    reply = await answer_call(parts, _body(state=[1], context={"k": 2}), CONTEXT)

    assert (reply.status, reply.headers) == (200, {})
    assert json.loads(reply.body)["content"] == '["ü", [1], {"k": 2}, {"x-tenant": "acme"}]'


async def test_the_form_of_the_answer_may_be_asked_for(parts: Parts) -> None:
    """For each id of a call."""
    reply = await answer_call(parts, _body("nope"), CONTEXT, "anthropic")

    assert json.loads(reply.body) == {
        "type": "tool_result",
        "tool_use_id": "call_1",
        "content": "Error: nope is not a valid tool, try one of [look, delete].",
        "is_error": True,
    }


async def test_a_call_that_waits_is_answered_with_the_approval(parts: Parts) -> None:
    """202, and where to ask for it."""
    reply = await answer_call(parts, _body("delete", args={}), CONTEXT, "openai")
    approval = json.loads(reply.body)

    assert (reply.status, approval["status"]) == (202, "pending")
    assert reply.headers == {"Location": f"/approvals/{approval['id']}"}
    assert approval["tool_call"] == {"name": "delete", "args": {}, "id": "call_1", "type": "tool_call"}


@pytest.mark.parametrize(("body", "error"), [(b"{", MalformedJSON), (b"{}", NotAToolCall)])
async def test_what_the_program_has_to_mend_is_raised(parts: Parts, body: bytes, error: type[Exception]) -> None:
    """The routes say it as problems."""
    with pytest.raises(error):
        await answer_call(parts, body, CONTEXT)


async def test_an_error_of_the_call_is_raised_too() -> None:
    """There is a status code to say it with."""
    begun, ended = asyncio.Event(), asyncio.Event()

    @tool
    async def hang() -> None:
        """Wait for the end of the test."""
        begun.set()
        await ended.wait()

    parts = create_app(Settings(max_concurrency_per_caller=1), Registry([hang])).state.parts
    first = asyncio.ensure_future(answer_call(parts, _body("hang"), CONTEXT))
    await begun.wait()

    with pytest.raises(TooManyCalls):
        await answer_call(parts, _body("hang"), CONTEXT)
    ended.set()

    assert (await first).status == 200


async def test_calls_are_answered_in_their_places(parts: Parts) -> None:
    """Each in its own dialect, and one that fails harms no other."""
    calls = [
        read_call({"name": "look", "args": {"text": "a"}, "id": "1"}, NO_TOOLS),
        read_call({"type": "tool_use", "name": "nope", "input": {}, "id": "2"}, NO_TOOLS),
        read_call({"id": "3", "function": {"name": "delete", "arguments": "{}"}}, NO_TOOLS),
    ]

    reply = await answer_calls(parts, calls, RequestContext())
    first, second, third = json.loads(reply.body)

    assert (reply.status, list(reply.headers)) == (200, ["X-Sidecall-Approvals"])
    assert (first["content"], first["tool_call_id"]) == ('["a", null, {}, {}]', "1")
    assert (second["type"], second["tool_use_id"], second["is_error"]) == ("tool_result", "2", True)
    assert (third["role"], third["tool_call_id"]) == ("tool", "3")
    assert third["content"].startswith("delete waits for a person's approval (")


async def test_calls_may_be_answered_in_one_form(parts: Parts) -> None:
    """Which was asked for."""
    calls = [read_call({"name": name, "args": {"text": "a"}, "id": name}, NO_TOOLS) for name in ("look", "nope")]

    reply = await answer_calls(parts, calls, RequestContext(), "openai-responses")

    assert [answer["type"] for answer in json.loads(reply.body)] == ["function_call_output", "function_call_output"]


async def test_a_request_has_what_came_beside_its_call() -> None:
    """And what its own request is about."""
    caller = Caller("ann")
    presence = DisconnectListener(Peer().receive)
    context = RequestContext({"x-tenant": "acme"}, caller, presence, deadline=Deadline(12.5, 1.0))

    request = make_request(read_other_call(_body(state=1, context={"k": 2}), NO_TOOLS), context)

    assert (request.call.name, request.call.args, request.call.id) == ("look", {"text": "ü"}, "call_1")
    assert (request.state, request.context, request.sender.headers) == (1, {"k": 2}, {"x-tenant": "acme"})
    assert (request.sender.caller, request.sender.presence, request.sender.deadline) == (caller, presence, (12.5, 1.0))
    assert (request.review.approved, request.listener) == (False, None)
