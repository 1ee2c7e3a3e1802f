"""No matter what is sent, the answer is a problem or a message, never a crash."""

import json
from typing import Any

import pytest

from sidecall import tool
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient

JSON = {"Content-Type": "application/json"}
pytestmark = BOTH_WAYS


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
    "NaN behind a second key": b'{"name": "calculator", "id": "1", "args": NaN, "args": {"expression": "1"}}',
    "NaN behind a second key within": calling('"1", "more": NaN, "more": 1'),
    "a number of 5,000 digits": calling("9" * 5000),
    "only a number of 5,000 digits": b"9" * 5000,
    "arrays nested 20,000 deep": b"[" * 20_000 + b"]" * 20_000,
    "objects nested 20,000 deep": b'{"a":' * 20_000 + b"1" + b"}" * 20_000,
    "arguments nested 20,000 deep": calling("[" * 20_000 + "]" * 20_000),
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
    assert response.json()["detail"].startswith(("The body is not JSON: ", "The body is empty; "))


@pytest.mark.parametrize(
    ("args", "content"),
    [
        ({"expression": "\u0000\u0007"}, "value of \u0000\u0007"),
        ({"expression": "🙂 ü \u202e"}, "value of 🙂 ü \u202e"),
        ({"expression": 1}, "expression: Input should be a string"),
        ({"expression": None}, "expression: Input should be a string"),
        ({"expression": {"a": [1]}}, "expression: Input should be a string"),
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


async def test_the_last_of_two_keys_counts(make_client: MakeClient) -> None:
    """As in Python's own parser; there is no way to see two."""
    client = await make_client(calculator)
    body = b'{"name": "nope", "name": "calculator", "args": {"expression": "1", "expression": "2"}}'

    response = await client.post("/tool_calls", content=body, headers=JSON)

    assert json.loads(response.content)["content"] == "value of 2"
