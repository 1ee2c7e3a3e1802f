"""A call is understood in each provider's form, and answered in the same."""

import copy
import json
from typing import Any

import pytest
from anthropic.types import ToolResultBlockParam
from langchain_core.messages import ToolMessage
from openai.types.chat import ChatCompletionToolMessageParam
from openai.types.responses.response_input_item_param import FunctionCallOutput
from pydantic import TypeAdapter

from sidecall import ToolException, tool
from tests.kit.clients import MakeClient

ARGUMENTS: dict[str, Any] = {"text": "hello"}
CALLS: dict[str, dict[str, Any]] = {
    "langchain": {"name": "echo", "args": ARGUMENTS, "id": "call_1", "type": "tool_call"},
    "openai": {"id": "call_1", "type": "function", "function": {"name": "echo", "arguments": '{"text": "hello"}'}},
    "openai-responses": {
        "type": "function_call",
        "call_id": "call_1",
        "name": "echo",
        "arguments": '{"text": "hello"}',
    },
    "anthropic": {"type": "tool_use", "id": "call_1", "name": "echo", "input": ARGUMENTS},
    "gemini": {"functionCall": {"id": "call_1", "name": "echo", "args": ARGUMENTS}},
}
ID_KEYS = {
    "langchain": ["id"],
    "openai": ["id"],
    "openai-responses": ["call_id"],
    "anthropic": ["id"],
    "gemini": ["functionCall", "id"],
}
ANSWER_ID_KEYS = {
    "langchain": ["tool_call_id"],
    "openai": ["tool_call_id"],
    "openai-responses": ["call_id"],
    "anthropic": ["tool_use_id"],
    "gemini": ["functionResponse", "id"],
}
PARAMS: dict[str, TypeAdapter[Any]] = {
    "openai": TypeAdapter(ChatCompletionToolMessageParam),
    "openai-responses": TypeAdapter(FunctionCallOutput),
    "anthropic": TypeAdapter(ToolResultBlockParam),
}
PROVIDERS = ["openai", "openai-responses", "anthropic"]

PICTURE = [{"type": "text", "text": "a"}, {"type": "image_url", "image_url": {"url": "https://x.test/a.png"}}]


def _holder_of(value: dict[str, Any], keys: list[str]) -> dict[str, Any]:
    for key in keys[:-1]:
        value = value[key]
    return value


def _with_id(dialect: str, call_id: Any) -> dict[str, Any]:
    call = copy.deepcopy(CALLS[dialect])
    _holder_of(call, ID_KEYS[dialect])[ID_KEYS[dialect][-1]] = call_id
    return call


def _id_in(answer: dict[str, Any], dialect: str) -> Any:
    keys = ANSWER_ID_KEYS[dialect]
    return _holder_of(answer, keys)[keys[-1]]


@tool
async def echo(text: str) -> str:
    """Repeat a text.

    Args:
        text: What to repeat.
    """
    if text == "fail":
        raise ToolException("The text is refused.")
    return text


@tool
async def blocks(content: list[Any]) -> list[Any]:
    """Answer with content blocks.

    Args:
        content: The blocks.
    """
    return content


@tool(response_format="content_and_artifact")
async def pair() -> tuple[str, dict[str, Any]]:
    """Answer with a text for the model and rows for the program."""
    return "2 rows", {"rows": [1, 2]}


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("openai", {"role": "tool", "tool_call_id": "call_1", "content": "hello"}),
        ("openai-responses", {"type": "function_call_output", "call_id": "call_1", "output": "hello"}),
        ("anthropic", {"type": "tool_result", "tool_use_id": "call_1", "content": "hello", "is_error": False}),
        ("gemini", {"functionResponse": {"id": "call_1", "name": "echo", "response": {"output": "hello"}}}),
    ],
)
async def test_a_providers_call_is_answered_in_its_form(
    make_client: MakeClient, dialect: str, answer: dict[str, Any]
) -> None:
    """The answer can be appended to the conversation as it is."""
    client = await make_client(echo)

    response = await client.post("/tool_calls", json=CALLS[dialect])

    assert response.status_code == 200
    assert response.json() == answer


async def test_a_langchain_call_is_answered_with_the_nine_keys(make_client: MakeClient) -> None:
    """They are those of LangChain's ToolMessage."""
    client = await make_client(echo)

    message = (await client.post("/tool_calls", json=CALLS["langchain"])).json()

    assert {key: message[key] for key in message.keys() - {"id", "response_metadata"}} == {
        "content": "hello",
        "artifact": None,
        "tool_call_id": "call_1",
        "name": "echo",
        "status": "success",
        "type": "tool",
        "additional_kwargs": {},
    }
    assert list(message["response_metadata"]) == ["duration_ms", "return_direct", "ignored_args", "repaired"]


@pytest.mark.parametrize(
    ("call", "status", "artifact"),
    [
        (CALLS["langchain"], "success", None),
        ({**CALLS["langchain"], "args": {"text": "fail"}}, "error", None),
        ({**CALLS["langchain"], "args": {}}, "error", None),
        ({**CALLS["langchain"], "name": "ecco"}, "error", None),
        ({"name": "blocks", "args": {"content": PICTURE}, "id": "call_1"}, "success", None),
        ({"name": "pair", "args": {}, "id": "call_1"}, "success", {"rows": [1, 2]}),
    ],
)
async def test_langchain_rebuilds_the_message(
    make_client: MakeClient, call: dict[str, Any], status: str, artifact: Any
) -> None:
    """`ToolMessage(**response.json())` is all that a LangChain program has to write."""
    client = await make_client(echo, blocks, pair)

    answer = (await client.post("/tool_calls", json=call)).json()
    message = ToolMessage(**answer)

    assert message.status == status
    assert message.artifact == artifact
    assert message.tool_call_id == "call_1"
    assert message.model_dump() == answer


@pytest.mark.parametrize("dialect", PROVIDERS)
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("echo", {"text": "hello"}),
        ("echo", {"text": "fail"}),
        ("echo", {}),
        ("ecco", {}),
        ("pair", {}),
        ("blocks", {"content": PICTURE}),
    ],
)
async def test_a_providers_client_accepts_the_answer(
    make_client: MakeClient, dialect: str, name: str, arguments: dict[str, Any]
) -> None:
    """It fits the type that the provider's package has for it, no matter what the tool answered."""
    client = await make_client(echo, blocks, pair)
    call = {"name": name, "args": arguments, "id": "call_1"}

    answer = (await client.post("/tool_calls", params={"format": dialect}, json=call)).json()

    assert json.loads(PARAMS[dialect].dump_json(PARAMS[dialect].validate_python(answer))) == answer


@pytest.mark.parametrize(
    ("dialect", "answer"),
    [
        ("openai", {"role": "tool", "tool_call_id": "call_1", "content": "The text is refused."}),
        ("openai-responses", {"type": "function_call_output", "call_id": "call_1", "output": "The text is refused."}),
        (
            "anthropic",
            {"type": "tool_result", "tool_use_id": "call_1", "content": "The text is refused.", "is_error": True},
        ),
        (
            "gemini",
            {"functionResponse": {"id": "call_1", "name": "echo", "response": {"error": "The text is refused."}}},
        ),
    ],
)
async def test_a_failure_is_said_in_the_dialect(make_client: MakeClient, dialect: str, answer: dict[str, Any]) -> None:
    """Where the dialect has a mark for errors it is set; the text is there in all."""
    client = await make_client(echo)
    call = {"name": "echo", "args": {"text": "fail"}, "id": "call_1"}

    response = await client.post("/tool_calls", params={"format": dialect}, json=call)

    assert response.status_code == 200
    assert response.json() == answer


@pytest.mark.parametrize("dialect", list(CALLS))
@pytest.mark.parametrize(
    ("sent", "answered"),
    [
        ("call_1", "call_1"),
        ("", ""),  # Google's models send it, and expect it back
        (7, "7"),
        (10**30, "1000000000000000000000000000000"),
        ("ü 🙂", "ü 🙂"),
    ],
)
async def test_the_id_of_the_call_is_echoed(
    make_client: MakeClient, dialect: str, sent: str | int, answered: str
) -> None:
    """No matter what it is, the caller finds its call by it."""
    client = await make_client(echo)

    answer = (await client.post("/tool_calls", json=_with_id(dialect, sent))).json()

    assert _id_in(answer, dialect) == answered


@pytest.mark.parametrize("dialect", [dialect for dialect in CALLS if dialect != "gemini"])
@pytest.mark.parametrize("is_null", [True, False], ids=["null", "absent"])
async def test_an_id_is_minted_for_a_call_without_one(make_client: MakeClient, dialect: str, is_null: bool) -> None:
    """Two calls get two ids."""
    client = await make_client(echo)
    call = _with_id(dialect, None)
    if not is_null:
        del _holder_of(call, ID_KEYS[dialect])["id" if dialect != "openai-responses" else "call_id"]

    first = _id_in((await client.post("/tool_calls", json=call)).json(), dialect)
    second = _id_in((await client.post("/tool_calls", json=call)).json(), dialect)

    assert first.startswith("call_")
    assert len(first) == 37
    assert first != second


@pytest.mark.parametrize(
    "call",
    [
        {"name": "echo", "args": ARGUMENTS},
        {**CALLS["langchain"], "extras": {"item_id": "x"}, "index": 0},  # LangChain adds them
        {**CALLS["openai"], "index": 0, "extra_content": {"google": {"thought_signature": "x"}}},  # Gemini adds them
        {"function": {"name": "echo", "arguments": ARGUMENTS, "description": None}},
        {"function": {"name": "echo", "arguments": ARGUMENTS}, "name": "other"},
        {**CALLS["openai-responses"], "id": "fc_1", "status": "completed"},
        {**CALLS["anthropic"], "cache_control": None, "caller": {"type": "direct"}},
        {**CALLS["gemini"], "thoughtSignature": "x", "thought": None},
        {"function_call": {"name": "echo", "args": ARGUMENTS, "id": None, "partial_args": None}, "text": None},
    ],
)
async def test_a_call_is_known_by_what_only_its_dialect_has(make_client: MakeClient, call: dict[str, Any]) -> None:
    """`type` can be left out, and what providers add is tolerated."""
    client = await make_client(echo)

    response = await client.post("/tool_calls", params={"format": "langchain"}, json=call)

    assert response.status_code == 200
    assert response.json()["content"] == "hello"
