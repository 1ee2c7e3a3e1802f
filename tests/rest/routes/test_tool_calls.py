"""A call is run and answered with what the model has to be told."""

from typing import Any
from uuid import UUID

import pytest

from sidecall import tool
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient
from tests.kit.tools import add, ping

pytestmark = BOTH_WAYS


@tool(response_format="content_and_artifact", return_direct=True)
async def report() -> tuple[str, list[int]]:
    """Answer with a text and rows."""
    return "3 rows", [1, 2, 3]


@pytest.mark.parametrize(
    ("name", "args", "content"),
    [
        ("add", {"a": 1}, "2"),
        ("add", {"a": 1, "b": 2}, "3"),
        ("add", {"a": "1", "b": 2.0}, "3"),  # as lax as pydantic
        ("ping", {}, "pong"),
        ("ping", None, "pong"),
    ],
)
async def test_a_call_is_run(make_client: MakeClient, name: str, args: Any, content: str) -> None:
    """The content is what the tool returned, as text."""
    client = await make_client(add, ping)

    response = await client.post("/tool_calls", json={"name": name, "args": args, "id": "call_1"})

    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json"
    assert response.json()["status"] == "success"
    assert response.json()["content"] == content


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        ('{"a": 1, "b": 2}', "3"),
        ({"a": 1, "b": 2}, "3"),
        (' {"a":1}\n', "2"),
    ],
    ids=["text", "object", "text-with-space"],
)
@pytest.mark.parametrize("dialect", ["openai", "openai-responses"])
async def test_arguments_may_be_text_or_an_object(
    make_client: MakeClient, dialect: str, arguments: Any, content: str
) -> None:
    """OpenAI's models write text; some gateways have parsed it already."""
    client = await make_client(add)
    calls = {
        "openai": {"id": "1", "type": "function", "function": {"name": "add", "arguments": arguments}},
        "openai-responses": {"call_id": "1", "type": "function_call", "name": "add", "arguments": arguments},
    }

    response = await client.post("/tool_calls", params={"format": "langchain"}, json=calls[dialect])

    assert response.json()["content"] == content


@pytest.mark.parametrize("arguments", ["", "  ", "null", None, "{}", {}])
async def test_no_arguments_may_be_said_in_many_ways(make_client: MakeClient, arguments: Any) -> None:
    """Models send any of these for a tool without parameters."""
    client = await make_client(ping)
    call = {"id": "1", "type": "function", "function": {"name": "ping", "arguments": arguments}}

    response = await client.post("/tool_calls", json=call)

    assert response.json() == {"role": "tool", "tool_call_id": "1", "content": "pong"}


async def test_the_id_of_the_message_is_that_of_the_invocation(make_client: MakeClient) -> None:
    """It is ours, a UUIDv7, no matter what the id of the call is."""
    client = await make_client(ping)
    call = {"name": "ping", "args": {}, "id": "call_1"}

    first = (await client.post("/tool_calls", json=call)).json()["id"]
    second = (await client.post("/tool_calls", json=call)).json()["id"]

    assert UUID(first).version == UUID(second).version == 7
    assert first < second


async def test_an_artifact_stays_with_the_program(make_client: MakeClient) -> None:
    """It is in the ToolMessage, and in no provider's answer."""
    client = await make_client(report)
    call = {"name": "report", "args": {}, "id": "call_1"}

    message = (await client.post("/tool_calls", json=call)).json()
    answer = (await client.post("/tool_calls?format=openai", json=call)).json()

    assert (message["content"], message["artifact"]) == ("3 rows", [1, 2, 3])
    assert message["response_metadata"]["return_direct"] is True
    assert answer == {"role": "tool", "tool_call_id": "call_1", "content": "3 rows"}


@pytest.mark.parametrize(
    ("form", "answer"),
    [
        ("openai", {"role": "tool", "tool_call_id": "call_1", "content": "pong"}),
        ("openai-responses", {"type": "function_call_output", "call_id": "call_1", "output": "pong"}),
        ("anthropic", {"type": "tool_result", "tool_use_id": "call_1", "content": "pong", "is_error": False}),
    ],
)
async def test_the_form_of_the_answer_can_be_chosen(make_client: MakeClient, form: str, answer: Any) -> None:
    """A gateway may speak one dialect in and another out."""
    client = await make_client(ping)

    response = await client.post(f"/tool_calls?format={form}", json={"name": "ping", "args": {}, "id": "call_1"})

    assert response.json() == answer
