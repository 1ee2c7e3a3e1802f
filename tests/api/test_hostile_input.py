"""Whatever is sent, the answer is a problem or a message, never a crash."""

import json
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest

from app import tool

MakeClient = Callable[..., Awaitable[httpx.AsyncClient]]
JSON = {"Content-Type": "application/json"}


@tool
async def calculator(expression: str) -> str:
    """Evaluate an arithmetic expression.

    Args:
        expression: What to calculate.
    """
    return f"value of {expression}"


@tool
async def count(number: int) -> str:
    """Count digits.

    Args:
        number: Of this number.
    """
    return str(len(str(number)))


@tool
async def anything(value: Any) -> Any:
    """Answer with what came.

    Args:
        value: Anything.
    """
    return value


def calling(expression: str) -> bytes:
    """Write a call of the calculator with this text as JSON."""
    return b'{"name": "calculator", "id": "call_1", "args": {"expression": ' + expression.encode() + b"}}"


NOT_JSON = {
    "empty": b"",
    "spaces": b" \n\t",
    "plain text": b"calculator(6 * 7)",
    "a form": b"name=calculator&args=",
    "truncated": b'{"name": "calculator", "args": {"expr',
    "two values": b"{} {}",
    "a trailing comma": b'{"name": "calculator", "args": {},}',
    "single quotes": b"{'name': 'calculator'}",
    "a comment": b"{} // call",
    "NaN": calling("NaN"),
    "Infinity": calling("Infinity"),
    "-Infinity": calling("-Infinity"),
    "a number of 5,000 digits": calling("9" * 5000),
    "only a number of 5,000 digits": b"9" * 5000,
    "arrays nested 100,000 deep": b"[" * 100_000 + b"]" * 100_000,
    "objects nested 100,000 deep": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "arguments nested 100,000 deep": calling("[" * 100_000 + "]" * 100_000),
    "arrays that never close": b"[" * 100_000,
    "invalid UTF-8": b'{"name": "\xff\xfe", "args": {}}',
    "overlong UTF-8": b'{"name": "\xc0\xaf", "args": {}}',
    "a surrogate as UTF-8": b'{"name": "\xed\xa0\x80", "args": {}}',
    "a lone surrogate": b'{"name": "\\ud800", "args": {}}',
    "a lone low surrogate": calling('"\\udc00"'),
    "a lone surrogate in a key": b'{"\\ud800": 1, "name": "calculator", "args": {}}',
    "a byte order mark": b"\xef\xbb\xbf" + calling('"1"'),
    "UTF-16": calling('"1"').decode().encode("utf-16"),
    "UTF-32": calling('"1"').decode().encode("utf-32"),
    "a control character in a text": calling('"\x01"'),
    "a null byte": b"\x00",
    "gzip": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
}


@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls/batch"])
@pytest.mark.parametrize("body", [pytest.param(body, id=name) for name, body in NOT_JSON.items()])
async def test_what_is_not_json_is_refused(make_client: MakeClient, path: str, body: bytes) -> None:
    """400, before anything is built of it."""
    client = await make_client(calculator)

    response = await client.post(path, content=body, headers=JSON)

    assert response.status_code == 400
    assert response.headers["Content-Type"] == "application/problem+json"
    assert response.json()["type"] == "urn:sidecall:problem:malformed-json"
    assert response.json()["detail"].startswith("The body is not JSON: ")


@pytest.mark.parametrize(
    ("args", "content"),
    [
        ({"expression": "\u0000\u0007"}, "value of \u0000\u0007"),
        ({"expression": "🙂 ü \u202e"}, "value of 🙂 ü \u202e"),
        ({"expression": 1}, "expression: Input should be a valid string"),
        ({"expression": None}, "expression: Input should be a valid string"),
        ({"expression": {"a": [1]}}, "expression: Input should be a valid string"),
        ({"__class__": 1}, "expression: Field required (string)"),
        ({"": 1, "self": 2, "__proto__": {}}, "expression: Field required (string)"),
    ],
)
async def test_strange_arguments_are_answered_with_a_message(
    make_client: MakeClient, args: dict[str, Any], content: str
) -> None:
    """They are JSON, so the tool or the model deals with them."""
    client = await make_client(calculator)

    response = await client.post("/tool_calls", json={"name": "calculator", "args": args})

    assert response.status_code == 200
    assert response.json()["content"] == content


@pytest.mark.parametrize("expression", ["1e999", "-1e999", "9" * 4000, "1e-999", "-0"])
async def test_numbers_out_of_range_are_no_crash(make_client: MakeClient, expression: str) -> None:
    """They are answered as wrong arguments of a tool that wants a text."""
    client = await make_client(calculator)

    response = await client.post("/tool_calls", content=calling(expression), headers=JSON)

    assert response.status_code in (200, 400)


@pytest.mark.parametrize("value", ["1e999", "[1e999]", '{"a": -1e999}', "9" * 4000])
async def test_numbers_out_of_range_are_never_answered_with_what_is_not_json(
    make_client: MakeClient, value: str
) -> None:
    """The answer can be read by every parser, and the content that is JSON too."""
    client = await make_client(anything)
    body = f'{{"name": "anything", "args": {{"value": {value}}}, "id": "1"}}'

    response = await client.post("/tool_calls", content=body, headers=JSON)

    assert response.status_code in (200, 400)
    assert "Infinity" not in response.text
    assert "NaN" not in response.text


async def test_the_text_of_a_long_number_is_a_wrong_argument(make_client: MakeClient) -> None:
    """OpenAI's models write arguments as text; what is no JSON in there is the model's mistake."""
    client = await make_client(count)
    call = {"id": "1", "function": {"name": "count", "arguments": '{"number": ' + "9" * 5000 + "}"}}

    response = await client.post("/tool_calls?format=langchain", json=call)

    assert response.status_code == 200
    assert response.json()["response_metadata"]["error"]["kind"] == "malformed_arguments"


@pytest.mark.parametrize(
    "arguments",
    ["[" * 100_000, '{"a":' * 100_000, '"\\ud800"', '{"expression": NaN}', "\ufeff{}", "\x00"],
    ids=["arrays", "objects", "surrogate", "NaN", "byte order mark", "null byte"],
)
async def test_hostile_text_of_arguments_is_the_models_mistake(make_client: MakeClient, arguments: str) -> None:
    """It is answered with 200 and what to repair."""
    client = await make_client(calculator)
    call = {"id": "1", "function": {"name": "calculator", "arguments": arguments}}

    response = await client.post("/tool_calls?format=langchain", json=call)

    assert response.status_code == 200
    assert response.json()["response_metadata"]["error"]["kind"] == "malformed_arguments"


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
            '`function`, "function_call" with `arguments`, "tool_use" with `input`.',
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
        '{"name": "calculator", "args": "{}"}',
        "The call has the form of langchain, but `args`: Input should be a JSON object.",
        id="args that are text",
    ),
    pytest.param(
        '{"name": "calculator", "args": ["6 * 7"]}',
        "The call has the form of langchain, but `args`: Input should be a JSON object.",
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
        '{"function": {"name": "calculator"}}',
        "The call has the form of openai, but `function.arguments`: Field required.",
        id="a function without arguments",
    ),
    pytest.param(
        '{"type": "tool_use", "name": "calculator", "input": "6 * 7"}',
        "The call has the form of anthropic, but `input`: Input should be a JSON object.",
        id="an input that is text",
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
    assert refused.json()["type"] == "urn:sidecall:problem:not-a-tool-call"
    assert refused.json()["detail"] == detail
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


async def test_the_last_of_two_keys_counts(make_client: MakeClient) -> None:
    """As in Python's own parser; there is no way to see two."""
    client = await make_client(calculator)
    body = b'{"name": "nope", "name": "calculator", "args": {"expression": "1", "expression": "2"}}'

    response = await client.post("/tool_calls", content=body, headers=JSON)

    assert json.loads(response.content)["content"] == "value of 2"
