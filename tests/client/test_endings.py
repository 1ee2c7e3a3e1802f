"""A call that its model was cut off writing is not run, no matter which provider's answer it is the last of."""

from collections.abc import Iterator
from typing import Any

import pytest

from sidecall import tool
from tests.client.conftest import OpenApp
from tests.client.desk import double
from tests.client.said import CHAT, CHAT_CHUNKS, CONTENT, ITEMS, RESPONSES
from tests.client.twins import make_twin

RAN: list[str] = []
TOLD = "The call was cut off before its end, so nothing has run. Send it again as a whole."


@tool
def note(text: str = "") -> str:
    """Note a text."""
    RAN.append(text)
    return text


@tool("write", input="text")
def write(text: str) -> str:
    """Write a text."""
    RAN.append(text)
    return text


def _chat(*calls: dict[str, Any], end: Any = "length") -> dict[str, Any]:
    return {"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": calls}, "finish_reason": end}]}


def _function(call_id: str, arguments: str) -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "note", "arguments": arguments}}


def _chat_chunks(end: str | None) -> list[dict[str, Any]]:
    calls = [_function("a", '{"text": "one"}'), _function("b", "")]
    deltas = [{"tool_calls": [{**call, "index": index}]} for index, call in enumerate(calls)]
    chunks = [{"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    return [*chunks, *([{"choices": [{"index": 0, "delta": {}, "finish_reason": end}]}] if end else [])]


ONE, HALF = _function("a", '{"text": "one"}'), _function("b", "")
CUSTOM = {"id": "b", "type": "custom", "custom": {"name": "write", "input": "tw"}}
ITEM = {"type": "function_call", "call_id": "a", "name": "note", "arguments": '{"text": "one"}', "status": "completed"}
HALF_ITEM = {"type": "custom_tool_call", "call_id": "b", "name": "write", "input": "tw"}
RESPONSE = {"status": "incomplete", "output": [ITEM, HALF_ITEM]}
USE = {"type": "tool_use", "id": "a", "name": "note", "input": {"text": "one"}}
HALF_USE = {"type": "tool_use", "id": "b", "name": "note", "input": {"text": "tw"}}
PARTS = [
    {"functionCall": {"name": "note", "args": {"text": "one"}}},
    {"functionCall": {"name": "note", "args": {}}},
    {"text": "", "thoughtSignature": "AA"},
]
STEPS = [
    {"type": "function_call", "id": "a", "name": "note", "arguments": {"text": "one"}},
    {"type": "function_call", "id": "b", "name": "note", "arguments": {}},
]


def _message(stop_reason: str | None) -> dict[str, Any]:
    return {"role": "assistant", "content": [USE, HALF_USE], "stop_reason": stop_reason}


def _blocks(*more: dict[str, Any]) -> list[dict[str, Any]]:
    """Write a stream of Anthropic's whose last block has its end, which those that are cut off have, too."""
    events: list[dict[str, Any]] = [{"type": "message_start", "message": {"stop_reason": None}}]
    for index, (block, text) in enumerate([(USE, '{"text": "one"}'), (HALF_USE, "")]):
        delta = {"type": "input_json_delta", "partial_json": text}
        events += [
            {"type": "content_block_start", "index": index, "content_block": {**block, "input": {}}},
            {"type": "content_block_delta", "index": index, "delta": delta},
            {"type": "content_block_stop", "index": index},
        ]
    return [*events, *more]


MAX_TOKENS = {"type": "message_delta", "delta": {"stop_reason": "max_tokens"}}
CUT_OFF: dict[str, Any] = {
    "chat": _chat(ONE, HALF),
    "chat, custom": _chat(ONE, CUSTOM),
    "chat, filtered": _chat(ONE, HALF, end="content_filter"),
    "chat, no end": _chat(ONE, HALF, end=None),
    "chat, chunks": _chat_chunks("length"),
    "chat, chunks without an end": _chat_chunks(None),
    "responses": RESPONSE,
    "responses, failed": {**RESPONSE, "status": "failed"},
    "responses, the item says so": {"status": "completed", "output": [{**HALF_ITEM, "status": "incomplete"}, ITEM]},
    "responses, events": [{"type": "response.incomplete", "response": RESPONSE}],
    "anthropic": _message("max_tokens"),
    "anthropic, refused": _message("refusal"),
    "anthropic, no end": _message(None),
    "anthropic, events": _blocks(MAX_TOKENS, {"type": "message_stop"}),
    "anthropic, events without an end": _blocks(),
    "gemini": {"candidates": [{"content": {"role": "model", "parts": PARTS}, "finishReason": "MAX_TOKENS"}]},
    "gemini, chunks": [
        {"candidates": [{"content": {"role": "model", "parts": PARTS[:2]}}]},
        {"candidates": [{"content": {"role": "model", "parts": PARTS[2:]}, "finishReason": "MAX_TOKENS"}]},
    ],
    "gemini, chunks without an end": [{"candidates": [{"content": {"role": "model", "parts": PARTS}}]}],
    "interaction": {"object": "interaction", "status": "incomplete", "steps": STEPS},
}


def _find_texts(answers: Any) -> Iterator[str]:
    """Find what the model reads."""
    if isinstance(answers, str):
        yield answers
    elif isinstance(answers, dict | list):
        places = ("content", "output", "parts", "functionResponse", "response", "error", "result")
        for inner in answers if isinstance(answers, list) else [answers[key] for key in places if key in answers]:
            yield from _find_texts(inner)


@pytest.mark.parametrize("name", CUT_OFF)
async def test_the_last_call_of_an_answer_that_was_cut_off_is_told_to_the_model(open_app: OpenApp, name: str) -> None:
    """Those before it run."""
    twin = make_twin("asynchronous", await open_app(note, write))
    RAN.clear()

    answers = await twin.ask("run", CUT_OFF[name], answers_only=True)
    said = await twin.ask("run", CUT_OFF[name])

    assert sorted(_find_texts(answers)) == [TOLD, "one"]
    assert RAN == ["one", "one"]
    assert TOLD not in str(said[: -len(answers)])
    assert "'status': 'incomplete'" not in str(said[: -len(answers)]) or "item says so" in name
    await twin.ask("close")


WHOLE: dict[str, Any] = {
    "chat": {**CHAT, "choices": [{**CHAT["choices"][0], "finish_reason": "stop"}]},
    "chat, another end": {**CHAT, "choices": [{**CHAT["choices"][0], "finish_reason": "done"}]},
    "chat, chunks": CHAT_CHUNKS,
    "gemini, no end": {"candidates": [{"content": CONTENT}]},
    "responses": {**RESPONSES, "status": "completed"},
    "responses, cut off behind it": {"status": "incomplete", "output": [*ITEMS, {"type": "message", "content": []}]},
    "anthropic, cut off behind it": {
        **_message("max_tokens"),
        "content": [{**USE, "name": "double", "input": {"number": 4}}, {"type": "text", "text": "No"}],
    },
}


@pytest.mark.parametrize("name", WHOLE)
async def test_a_call_that_was_written_to_its_end_runs(open_app: OpenApp, name: str) -> None:
    """Also where the model was cut off saying something else."""
    twin = make_twin("asynchronous", await open_app(double))
    assert list(_find_texts(await twin.ask("run", WHOLE[name], answers_only=True))) == ["8"]
    await twin.ask("close")


CALL = {"type": "function_call", "id": "a", "name": "note", "arguments": {"text": "one"}}
THOUGHT = {"type": "thought", "signature": "AA"}
RESULT = {"type": "function_result", "call_id": "a", "name": "note", "result": "one", "is_error": False}
INTERACTION = {"object": "interaction", "id": "i", "status": "requires_action"}


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ({**INTERACTION, "steps": [THOUGHT, CALL]}, [THOUGHT, CALL, RESULT]),
        (
            {**INTERACTION, "outputs": [THOUGHT, CALL]},
            [{"role": "model", "content": [THOUGHT, CALL]}, {"role": "user", "content": [RESULT]}],
        ),
        ({**INTERACTION, "steps": [CALL, RESULT]}, []),
        ({**INTERACTION, "status": "completed", "steps": [{"type": "model_output", "content": []}]}, []),
    ],
)
async def test_an_interaction_of_gemini_gets_its_results(open_app: OpenApp, said: Any, expected: Any) -> None:
    """As steps, or as the content of turns where it has outputs."""
    twin = make_twin("asynchronous", await open_app(note))
    assert await twin.ask("run", said) == expected
    assert await twin.ask("run", said, answers_only=True) == expected[-1:]
    await twin.ask("close")


async def test_calls_without_ids_are_answered_without_ids(open_app: OpenApp) -> None:
    """Gemini knows none that was made here."""
    twin = make_twin("asynchronous", await open_app(note))
    call = {"functionCall": {"name": "note", "args": {"text": "one"}}}

    _, answered = await twin.ask(
        "run", {"role": "model", "parts": [call, {"functionCall": {**call["functionCall"], "id": "x"}}]}
    )

    response = {"name": "note", "response": {"output": "one"}}
    assert answered["parts"] == [{"functionResponse": response}, {"functionResponse": {"id": "x", **response}}]
    await twin.ask("close")
