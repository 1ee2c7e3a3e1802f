"""What a model has said is a batch as it is; where one call is wanted, the answer says where its calls are."""

from typing import Any

import pytest
from openai.types.chat import ChatCompletionFunctionMessageParam, ChatCompletionMessage
from openai.types.chat.chat_completion_chunk import ChoiceDelta
from pydantic import TypeAdapter

from sidecall import tool
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem


@tool
async def double(number: int = 0) -> str:
    """Double a number.

    Args:
        number: Which.
    """
    return str(2 * number)


FUNCTION = {"name": "double", "arguments": '{"number": 4}'}
CHAT_CALL = {"id": "a", "type": "function", "function": FUNCTION}
NULLS = {"function_call": None, "audio": None, "refusal": None, "annotations": None}
USE = {"type": "tool_use", "id": "a", "name": "double", "input": {"number": 4}}
ITEM = {"type": "function_call", "call_id": "a", **FUNCTION}
PART = {"functionCall": {"name": "double", "args": {"number": 4}}}
OF_OLLAMA = {
    "role": "assistant",
    "content": "",
    "tool_calls": [{"function": {"name": "double", "arguments": {"number": 4}}}],
}

OF_CHAT = [{"role": "tool", "tool_call_id": "a", "content": "8"}]
OF_ANTHROPIC = [{"type": "tool_result", "tool_use_id": "a", "content": "8", "is_error": False}]
OF_RESPONSES = [{"type": "function_call_output", "call_id": "a", "output": "8"}]
OF_GEMINI = [{"functionResponse": {"name": "double", "response": {"output": "8"}}}]

# By name: what is sent, where its calls are, and the answers.
MESSAGES: dict[str, tuple[Any, str, list[Any]]] = {
    "chat": ({"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]}, "tool_calls", OF_CHAT),
    "chat, with nulls": (
        {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL], **NULLS},
        "tool_calls",
        OF_CHAT,
    ),
    "chat, of the SDK": (
        ChatCompletionMessage.model_validate({"role": "assistant", "tool_calls": [CHAT_CALL]}).model_dump(),
        "tool_calls",
        OF_CHAT,
    ),
    "chat, a delta of the SDK": (
        ChoiceDelta.model_validate({"tool_calls": [{**CHAT_CALL, "index": 0}]}).model_dump(),
        "tool_calls",
        OF_CHAT,
    ),
    "chat, without calls": ({"role": "assistant", "content": "Hello.", "tool_calls": None, **NULLS}, "tool_calls", []),
    "chat, nothing but nulls": ({"role": "assistant", "content": None, **NULLS}, "tool_calls", []),
    "chat, a delta without a role": ({"content": None, "function_call": None, "tool_calls": None}, "tool_calls", []),
    "chat, content of parts": (
        {"role": "assistant", "content": [{"type": "text", "text": "So."}], "tool_calls": [CHAT_CALL]},
        "tool_calls",
        OF_CHAT,
    ),
    "chat, the answer": (
        {"choices": [{"message": {"role": "assistant", "tool_calls": [CHAT_CALL]}, "finish_reason": "tool_calls"}]},
        "tool_calls",
        OF_CHAT,
    ),
    "anthropic": ({"role": "assistant", "content": [{"type": "text", "text": "So."}, USE]}, "content", OF_ANTHROPIC),
    "anthropic, the answer": (
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "server_tool_use", "id": "s", "name": "web_search", "input": {}}, USE],
            "stop_reason": "tool_use",
        },
        "content",
        OF_ANTHROPIC,
    ),
    "responses": (
        {
            "object": "response",
            "status": "completed",
            "output": [{"type": "reasoning"}, {"type": "web_search_call"}, ITEM],
        },
        "output",
        OF_RESPONSES,
    ),
    "gemini": (
        {"role": "model", "parts": [{"text": "So."}, PART, {"text": "", "thoughtSignature": "x"}]},
        "parts",
        OF_GEMINI,
    ),
    "gemini, of its library": (
        {"role": "model", "parts": [{"function_call": {"name": "double", "args": {"number": 4}}, "text": None}]},
        "parts",
        OF_GEMINI,
    ),
    "gemini, the answer": (
        {"candidates": [{"content": {"role": "model", "parts": [PART]}, "finishReason": "STOP"}]},
        "parts",
        OF_GEMINI,
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
async def test_a_message_is_a_batch(make_client: MakeClient, name: str) -> None:
    """As it is, and within a batch; one call it is not, and the refusal says where its calls are."""
    said, place, answers = MESSAGES[name]
    client = await make_client(double)

    batch = await client.post("/tool_calls/batch", json=said)
    inner = await client.post("/tool_calls/batch", json={"calls": said})
    one = await client.post("/tool_calls", json=said)

    assert (batch.json(), inner.json()) == (answers, answers)
    assert read_problem(one) == (
        "not-a-tool-call",
        "The body is an assistant message and no call: send it to POST /tool_calls/batch, or each of the items of its"
        f" `{place}` alone.",
    )
    assert (await client.post("/tool_calls?format=langchain", json=one.json()["example"])).status_code == 200


@pytest.mark.parametrize("said", [OF_OLLAMA, {"model": "qwen3", "message": OF_OLLAMA, "done": True}])
async def test_calls_without_ids_are_run_too(make_client: MakeClient, said: Any) -> None:
    """As Ollama has them, with ids of ours."""
    (answer,) = (await (await make_client(double)).post("/tool_calls/batch", json=said)).json()

    assert (answer["role"], answer["content"], answer["tool_call_id"][:5]) == ("tool", "8", "call_")


async def test_the_older_form_of_chat_completions_is_answered_in_it(make_client: MakeClient) -> None:
    """With a message of role `function`, which the SDK takes; as a single call it is refused, as every message is."""
    client = await make_client(double)
    said = {"role": "assistant", "content": None, "function_call": FUNCTION}

    batch = await client.post("/tool_calls/batch", json=said)
    cut_off = await client.post("/tool_calls/batch", json={"choices": [{"message": said, "finish_reason": "length"}]})
    one = await client.post("/tool_calls", json=said)

    assert batch.json() == [{"role": "function", "name": "double", "content": "8"}]
    TypeAdapter(ChatCompletionFunctionMessageParam).validate_python(batch.json()[0])
    assert cut_off.json()[0]["content"].startswith("The call was cut off")
    text = "The body is an assistant message and no call: send it to POST /tool_calls/batch."
    assert read_problem(one) == ("not-a-tool-call", text)


@pytest.mark.parametrize(
    "said",
    [
        {"role": "assistant", "content": [USE, USE], "stop_reason": "max_tokens"},
        {"status": "incomplete", "output": [ITEM, ITEM]},
        {
            "choices": [
                {"message": {"role": "assistant", "tool_calls": [CHAT_CALL, CHAT_CALL]}, "finish_reason": "length"}
            ]
        },
        {"candidates": [{"content": {"role": "model", "parts": [PART, PART]}, "finishReason": "MAX_TOKENS"}]},
        {"message": {**OF_OLLAMA, "tool_calls": OF_OLLAMA["tool_calls"] * 2}, "done": True, "done_reason": "length"},
    ],
)
async def test_the_last_call_of_one_that_was_cut_off_is_not_run(make_client: MakeClient, said: Any) -> None:
    """It may be half of what was meant; those before it are whole."""
    client = await make_client(double)

    answers = (await client.post("/tool_calls/batch?format=langchain", json=said)).json()

    assert [it["status"] for it in answers] == ["success", "error"]
    assert answers[1]["response_metadata"]["error"]["kind"] == "malformed_arguments"


@pytest.mark.parametrize(
    ("items", "answers"),
    [
        ([{"type": "reasoning", "id": "r"}, {"type": "web_search_call", "id": "w"}, ITEM], OF_RESPONSES),
        ([{"type": "message", "role": "assistant", "content": []}, ITEM], OF_RESPONSES),
        ([{"type": "thinking", "thinking": "…"}, {"type": "text", "text": "So."}, USE], OF_ANTHROPIC),
        ([{"text": "So.", "thought": True}, PART], OF_GEMINI),
    ],
)
async def test_the_items_of_an_answer_are_a_batch(
    make_client: MakeClient, items: list[Any], answers: list[Any]
) -> None:
    """What stands beside its calls has no answer."""
    client = await make_client(double)

    assert (await client.post("/tool_calls/batch", json=items)).json() == answers
    assert (await client.post("/tool_calls/batch", json={"calls": items})).json() == answers


async def test_what_the_program_sends_beside_a_message_is_heard(make_client: MakeClient) -> None:
    """As beside other batches."""
    client = await make_client(double)
    said = MESSAGES["chat"][0]

    heard = await client.post("/tool_calls/batch", json={**said, "state": {"a": 1}, "context": {"tenant": "x"}})
    refused = await client.post("/tool_calls/batch", json={**said, "context": [1]})
    told = await client.post("/tool_calls/batch", json={**said, "callback_url": "https://x.test/"})

    assert heard.json() == OF_CHAT
    assert (refused.status_code, told.status_code) == (422, 422)


@pytest.mark.parametrize(
    "body", [{"role": "user", "content": "Hello."}, {"message": "x"}, {"choices": []}, {"output": 1}]
)
async def test_what_no_model_has_said_is_refused(make_client: MakeClient, body: Any) -> None:
    """As ever."""
    client = await make_client(double)

    assert (await client.post("/tool_calls/batch", json=body)).status_code == 422
