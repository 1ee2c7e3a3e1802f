"""JSON that is no call is refused in words that help, with an example that runs."""

from typing import Any

import pytest

from sidecall import tool
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem

JSON = {"Content-Type": "application/json"}
pytestmark = BOTH_WAYS


@tool
async def calculator(expression: str) -> str:
    """Evaluate an arithmetic expression.

    Args:
        expression: What to calculate.
    """
    return f"value of {expression}"


NOT_CALLS: list[Any] = [
    pytest.param("null", "A call is a JSON object, not null.", id="null"),
    pytest.param('"calculator"', "A call is a JSON object, not a string.", id="string"),
    pytest.param("7", "A call is a JSON object, not a number.", id="integer"),
    pytest.param("7.5", "A call is a JSON object, not a number.", id="float"),
    pytest.param("true", "A call is a JSON object, not a boolean.", id="boolean"),
    pytest.param("[]", "One call is a JSON object; send arrays of calls to POST /tool_calls/batch.", id="array"),
    *(
        pytest.param(
            body,
            'The body is not a call. A call has one of these types: "tool_call" with `args`, "function" with '
            '`function`, "function_call" with `arguments`, "tool_use" with `input`; or it is Gemini\'s `functionCall`; '
            "or what a model emits for a built-in tool: custom, custom_tool_call, shell_call, local_shell_call, "
            "apply_patch_call, computer_call, tool_search_call, mcp_approval_request.",
            id=name,
        )
        for name, body in {
            "empty": "{}",
            "only a name": '{"name": "calculator"}',
            "an unknown type": '{"name": "calculator", "args": {}, "type": "call"}',
            "a type that is a list": '{"name": "calculator", "args": {}, "type": ["tool_call"]}',
            "a type that is an object": '{"name": "calculator", "args": {}, "type": {}}',
            "a definition": '{"name": "calculator", "description": "x", "parameters": {}}',
        }.items()
    ),
    pytest.param(
        '{"name": "calculator", "args": {}, "input": {}}',
        "The call mixes the forms of langchain and anthropic; send one of them.",
        id="two dialects",
    ),
    pytest.param(
        '{"name": "calculator", "args": {}, "type": "tool_use"}',
        "The call mixes the forms of anthropic and langchain; send one of them.",
        id="the type of another",
    ),
    pytest.param(
        '{"name": "calculator", "args": ["6 * 7"]}',
        "The call has the form of langchain, but `args`: Input should be a JSON object or the text of one.",
        id="args that are a list",
    ),
    pytest.param(
        '{"args": {}}', "The call has the form of langchain, but `name`: Field required.", id="without a name"
    ),
    pytest.param(
        '{"name": null, "args": {}}',
        "The call has the form of langchain, but `name`: Input should be a valid string.",
        id="a name that is null",
    ),
    pytest.param(
        '{"name": "calculator", "args": {}, "context": []}',
        "The call has the form of langchain, but `context`: Input should be a JSON object.",
        id="a context that is a list",
    ),
    pytest.param(
        '{"function": "calculator"}',
        "The call has the form of openai, but `function`: Input should be a JSON object.",
        id="a function that is text",
    ),
    pytest.param(
        '{"function": {"name": "calculator", "arguments": 7}}',
        "The call has the form of openai, but `function.arguments`: Input should be a JSON object or the text of one.",
        id="arguments that are a number",
    ),
    pytest.param(
        '{"function": {"name": "calculator"}}',
        "The call has the form of openai, but `function.arguments`: Field required.",
        id="a function without arguments",
    ),
    pytest.param(
        '{"type": "tool_use", "name": "calculator", "input": [6, 7]}',
        "The call has the form of anthropic, but `input`: Input should be a JSON object or the text of one.",
        id="an input that is a list",
    ),
    pytest.param(
        '{"type": "function_call", "call_id": "1", "arguments": "{}"}',
        "The call has the form of openai-responses, but `name`: Field required.",
        id="a function call without a name",
    ),
]


@pytest.mark.parametrize(("body", "detail"), NOT_CALLS)
async def test_json_that_is_no_call_is_told_what_is_expected(make_client: MakeClient, body: str, detail: str) -> None:
    """422 with a sentence, and an example that runs when it is sent."""
    client = await make_client(calculator)

    refused = await client.post("/tool_calls", content=body, headers=JSON)
    accepted = await client.post("/tool_calls?format=langchain", json=refused.json()["example"])

    assert refused.status_code == 422
    assert read_problem(refused) == ("not-a-tool-call", detail)
    assert accepted.json()["content"] == "value of 6 * 7"


@pytest.mark.parametrize("body", ["{}", '[{"name": "calculator"}]', "[null]", '[{"function": 1}]'])
async def test_json_that_is_no_batch_is_told_what_is_expected(make_client: MakeClient, body: str) -> None:
    """The example is a batch that runs when it is sent."""
    client = await make_client(calculator)

    refused = await client.post("/tool_calls/batch", content=body, headers=JSON)
    accepted = await client.post("/tool_calls/batch?format=langchain", json=refused.json()["example"])

    assert refused.status_code == 422
    assert [message["content"] for message in accepted.json()] == ["value of 6 * 7"]


@pytest.mark.parametrize("call_id", ["true", "1.5", "[]", "{}"])
async def test_an_id_is_a_text_or_a_whole_number(make_client: MakeClient, call_id: str) -> None:
    """Anything else could not be echoed as it came."""
    client = await make_client(calculator)
    body = f'{{"name": "calculator", "args": {{}}, "id": {call_id}}}'

    response = await client.post("/tool_calls", content=body, headers=JSON)

    assert response.status_code == 422
    assert {error["loc"][0] for error in response.json()["errors"]} == {"id"}
