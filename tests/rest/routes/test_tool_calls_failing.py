"""A call that fails is answered with what the model has to mend, and with nothing else."""

from typing import Any

import pytest

from sidecall import ToolException, tool
from tests.kit.clients import MakeClient
from tests.kit.tools import add, ping


@tool(unknown_args="forbid")
async def exact(a: int) -> int:
    """Take one number and nothing else.

    Args:
        a: The number.
    """
    return a


@tool
async def refuse() -> str:
    """Fail in a way that the model may read."""
    raise ToolException({"reason": "closed"}, retry_after=1.5)


@tool
async def crash() -> str:
    """Fail in a way that it may not."""
    raise RuntimeError("password=hunter2")


@pytest.mark.parametrize(
    ("arguments", "content"),
    [
        (
            '{"a": 1',
            "The arguments are not valid JSON: the text ends before the JSON does, as if it was cut off. "
            "Send one JSON object: {a, b?}.",
        ),
        ("[1]", "The arguments must be one JSON object, not an array: {a, b?}."),
        ('"a"', "The arguments must be one JSON object, not a string: {a, b?}."),
        ("7", "The arguments must be one JSON object, not a number: {a, b?}."),
        ("true", "The arguments must be one JSON object, not a boolean: {a, b?}."),
    ],
)
async def test_text_that_is_no_object_is_for_the_model_to_repair(
    make_client: MakeClient, arguments: str, content: str
) -> None:
    """The model wrote it, so the model is told."""
    client = await make_client(add)
    call = {"id": "1", "type": "function", "function": {"name": "add", "arguments": arguments}}

    message = (await client.post("/tool_calls", params={"format": "langchain"}, json=call)).json()

    assert message["status"] == "error"
    assert message["content"] == content
    assert message["response_metadata"]["error"]["kind"] == "malformed_arguments"


@pytest.mark.parametrize(
    ("args", "content", "errors"),
    [
        (
            {},
            "a: Field required (integer)",
            [{"loc": ["a"], "type": "missing", "msg": "Field required (integer)", "expected": "integer"}],
        ),
        (
            {"a": "hunter2", "b": []},
            "a: Input should be an integer\nb: Input should be an integer",
            [
                {
                    "loc": ["a"],
                    "type": "int_parsing",
                    "msg": "Input should be an integer",
                    "expected": "integer",
                },
                {"loc": ["b"], "type": "int_type", "msg": "Input should be an integer", "expected": "integer"},
            ],
        ),
    ],
)
async def test_wrong_arguments_are_said_one_a_line(
    make_client: MakeClient, args: dict[str, Any], content: str, errors: list[Any]
) -> None:
    """Nothing else is said, and never what was sent."""
    client = await make_client(add)

    message = (await client.post("/tool_calls", json={"name": "add", "args": args, "id": "call_1"})).json()

    assert message["status"] == "error"
    assert message["content"] == content
    assert message["response_metadata"]["error"] == {
        "kind": "invalid_arguments",
        "message": content,
        "retryable": True,
        "errors": errors,
        "nearest": [],
        "retry_after_ms": None,
    }


async def test_unknown_arguments_are_refused_where_the_tool_says_so(make_client: MakeClient) -> None:
    """The model is told which there are."""
    client = await make_client(exact)

    message = (await client.post("/tool_calls", json={"name": "exact", "args": {"a": 1, "c": 2}})).json()

    assert message["status"] == "error"
    assert message["content"] == "c: There is no such argument; the arguments are: a"


@pytest.mark.parametrize(
    ("name", "content", "nearest"),
    [
        ("adds", "Error: adds is not a valid tool, try one of [add, ping]. Did you mean add?", ["add"]),
        ("xyz", "Error: xyz is not a valid tool, try one of [add, ping].", []),
        ("", "Error:  is not a valid tool, try one of [add, ping].", []),
        ("ADD", "Error: ADD is not a valid tool, try one of [add, ping]. Did you mean add?", ["add"]),
        ("{add}", "Error: {add} is not a valid tool, try one of [add, ping]. Did you mean add?", ["add"]),
    ],
)
async def test_an_unknown_tool_is_for_the_model_to_repair(
    make_client: MakeClient, name: str, content: str, nearest: list[str]
) -> None:
    """It reads what LangGraph says, which models know."""
    client = await make_client(add, ping)

    response = await client.post("/tool_calls", json={"name": name, "args": {}, "id": "call_1"})
    message = response.json()

    assert response.status_code == 200
    assert message["status"] == "error"
    assert message["name"] == name
    assert message["tool_call_id"] == "call_1"
    assert message["content"] == content
    assert message["response_metadata"]["error"]["kind"] == "unknown_tool"
    assert message["response_metadata"]["error"]["nearest"] == nearest


async def test_what_the_tool_raises_for_the_model_is_passed_on(make_client: MakeClient) -> None:
    """With what the program needs to try again."""
    client = await make_client(refuse)

    message = (await client.post("/tool_calls", json={"name": "refuse", "args": {}, "id": "call_1"})).json()

    assert message["content"] == '{"reason": "closed"}'
    assert message["response_metadata"]["error"] == {
        "kind": "tool_error",
        "message": '{"reason": "closed"}',
        "retryable": True,
        "errors": [],
        "nearest": [],
        "retry_after_ms": 1500,
    }


async def test_a_crash_tells_the_model_nothing_and_the_operator_all(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    """The answer and the log share the id of the call."""
    client = await make_client(crash)

    response = await client.post("/tool_calls", json={"name": "crash", "args": {}, "id": "call_1"})

    assert response.status_code == 200
    assert response.json()["content"] == (
        "Error: crash failed unexpectedly (call call_1). The details are in the server's log."
    )
    assert "hunter2" not in response.text
    assert "tool crash failed: execution_error (call call_1, invocation " in caplog.text
    assert "RuntimeError: password=hunter2" in caplog.text
