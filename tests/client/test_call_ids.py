"""Calls without ids of their own get some, which stand in the message as in the answers."""

import copy
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest
from anthropic.types import Message
from openai.types.chat import ChatCompletion
from openai.types.responses import Response

from sidecall.client.model_output import read_turn
from tests.client.conftest import OpenTwin
from tests.client.desk import double, refund
from tests.client.said import ANTHROPIC, CHAT, CHAT_CHUNKS, RESPONSES

NO_ID = object()
WAYS = [(NO_ID, NO_ID), (None, None), ("", ""), ("call_0", "call_0"), ("call_0", ""), (NO_ID, "call_0")]


def _set(call: dict[str, Any], name: str, call_id: Any) -> dict[str, Any]:
    kept = {key: value for key, value in call.items() if key != name}
    return kept if call_id is NO_ID else {**kept, name: call_id}


def _call(number: int, call_id: Any) -> dict[str, Any]:
    function = {"name": "double", "arguments": f'{{"number": {number}}}'}
    return _set({"type": "function", "function": function}, "id", call_id)


def _chat(ids: tuple[Any, Any]) -> dict[str, Any]:
    said = copy.deepcopy(CHAT)
    said["choices"][0]["message"]["tool_calls"] = [_call(4 + index, it) for index, it in enumerate(ids)]
    return said


def _read_ids(items: list[dict[str, Any]], name: str) -> list[str]:
    ids = [item[name] for item in items if name in item]
    assert all(isinstance(it, str) and it for it in ids)
    assert len(set(ids)) == len(ids)
    return ids


@pytest.mark.parametrize("ids", WAYS)
@pytest.mark.parametrize("form", ["dict", "object", "message", "answers only"])
async def test_a_chats_message_and_its_answers_have_the_same(open_twin: OpenTwin, form: str, ids: Any) -> None:
    """Also where the program appends the message that it has, and the answers alone."""
    twin = await open_twin(double)
    given: Any = _chat(ids)
    if form == "object":
        given = ChatCompletion.model_validate(_chat(("a", "b")))
        for call, call_id in zip(given.choices[0].message.tool_calls, ids, strict=True):
            call.id = None if call_id is NO_ID else call_id
    if form == "message":
        given = given["choices"][0]["message"]

    messages = await twin.ask("run", given, answers_only=form == "answers only")

    calls = given["tool_calls"] if form == "message" else None
    if form in ("dict", "answers only"):
        calls = given["choices"][0]["message"]["tool_calls"]
    elif form == "object":
        calls = [call.model_dump() for call in given.choices[0].message.tool_calls]
    answers = [it for it in messages if it["role"] == "tool"]
    assert _read_ids(answers, "tool_call_id") == _read_ids(calls, "id")
    assert [it["content"] for it in answers] == ["8", "10"]
    if form != "answers only":
        assert _read_ids(messages[0]["tool_calls"], "id") == _read_ids(calls, "id")


@pytest.mark.parametrize("call_id", [NO_ID, None, ""])
async def test_so_have_chunks(open_twin: OpenTwin, call_id: Any) -> None:
    """As servers stream them that give no ids."""
    twin = await open_twin(double)
    chunks = copy.deepcopy(CHAT_CHUNKS)
    delta = chunks[2]["choices"][0]["delta"]
    delta["tool_calls"] = [_set(delta["tool_calls"][0], "id", call_id)]

    said, answered = await twin.ask("run", chunks)

    assert _read_ids(said["tool_calls"], "id") == [answered["tool_call_id"]]


@pytest.mark.parametrize("call_id", [NO_ID, None, ""])
async def test_so_have_the_other_apis(open_twin: OpenTwin, call_id: Any) -> None:
    """As servers speak them that are no provider's own."""
    twin = await open_twin(double)
    response, message = copy.deepcopy(RESPONSES), copy.deepcopy(ANTHROPIC)
    response["output"] = [
        _set(it, "call_id", call_id) if it["type"] == "function_call" else it for it in RESPONSES["output"]
    ]
    message["content"] = [_set(it, "id", call_id) if it["type"] == "tool_use" else it for it in ANTHROPIC["content"]]

    items = await twin.ask("run", response)
    messages = await twin.ask("run", message)

    assert _read_ids(response["output"], "call_id") == _read_ids(items[1:2], "call_id") == [items[2]["call_id"]]
    said, answered = messages
    ids = [answered["content"][0]["tool_use_id"]]
    assert _read_ids(message["content"], "id") == _read_ids(said["content"], "id") == ids


def test_objects_of_the_sdks_are_written_into() -> None:
    """And what the model gave stays as it is."""
    response, message = Response.model_validate(RESPONSES), Message.model_validate(ANTHROPIC)
    response.output[1].call_id = ""  # type: ignore[union-attr]
    message.content[2].id = ""  # type: ignore[union-attr]

    turns = [read_turn(response), read_turn(message)]

    assert response.output[1].call_id == turns[0].calls[0]["call_id"]  # type: ignore[union-attr]
    assert message.content[2].id == turns[1].calls[0]["id"]  # type: ignore[union-attr]
    assert response.output[1].call_id.startswith("call_")  # type: ignore[union-attr]
    assert read_turn(copy.deepcopy(CHAT)).said == [CHAT["choices"][0]["message"]]


def test_what_cannot_be_changed_stays_as_it_is() -> None:
    """What is returned has the ids in any case."""
    frozen = MappingProxyType({"role": "assistant", "content": None, "tool_calls": [MappingProxyType(_call(4, ""))]})

    turn = read_turn(frozen)

    assert frozen["tool_calls"][0]["id"] == ""
    assert turn.said[0]["tool_calls"][0]["id"] == turn.calls[0]["id"] != ""


async def test_calls_that_wait_are_known_by_them(open_twin: OpenTwin) -> None:
    """Two without ids wait for two persons' words, and each gets its own answer."""
    twin = await open_twin(double, refund)
    said = {"role": "assistant", "content": None, "tool_calls": [_call(4, ""), _call(5, "")]}
    said["tool_calls"][1]["function"] = {"name": "refund", "arguments": '{"order": 7}'}  # type: ignore[index]

    messages = await twin.ask("run", said, ask=lambda _: True)

    assert [it["content"] for it in messages[1:]] == ["8", "Refunded 100 for order 7."]


@pytest.mark.parametrize("call_id", ["", NO_ID])
async def test_gemini_gets_back_what_its_model_gave(open_twin: OpenTwin, call_id: Any) -> None:
    """An empty id as that, and none as none; two of them can wait for a person."""
    twin = await open_twin(double, refund)
    calls = [{"name": "double", "args": {"number": 4}}, {"name": "refund", "args": {"order": 7}}]
    content = {"role": "model", "parts": [{"functionCall": _set(it, "id", call_id)} for it in calls]}

    said, answered = await twin.ask("run", content, ask=lambda _: True)

    answers = [part["functionResponse"] for part in answered["parts"]]
    assert said == content
    assert [it.get("id", NO_ID) for it in answers] == [call_id, call_id]
    assert [it["response"]["output"] for it in answers] == ["8", "Refunded 100 for order 7."]


def _ollama(*calls: dict[str, Any]) -> dict[str, Any]:
    message = {"role": "assistant", "content": "", "thinking": "Let me see.", "tool_calls": list(calls)}
    return {
        "model": "qwen3",
        "created_at": "2026-11-01T00:00:00Z",
        "message": message,
        "done": True,
        "done_reason": "stop",
    }


OF_OLLAMA = [{"function": {"name": "double", "arguments": {"number": it}}} for it in (4, 5)]
WITH_IDS = [{"id": f"call_{index}", **call} for index, call in enumerate(OF_OLLAMA)]
CUT = "The call was cut off before its end, so nothing has run. Send it again as a whole."


def _tell(text: str, **more: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_name": "double", "content": text, **more}


@pytest.mark.parametrize(
    ("said", "answers"),
    [
        pytest.param(_ollama(*OF_OLLAMA), [_tell("8"), _tell("10")], id="answer"),
        pytest.param(_ollama(*OF_OLLAMA)["message"], [_tell("8"), _tell("10")], id="message"),
        pytest.param(
            _ollama(*WITH_IDS), [_tell("8", tool_call_id="call_0"), _tell("10", tool_call_id="call_1")], id="with ids"
        ),
        pytest.param({**_ollama(*OF_OLLAMA), "done_reason": "length"}, [_tell("8"), _tell(CUT)], id="cut off"),
        pytest.param(
            [
                {**_ollama(), "message": {"role": "assistant", "content": "", "thinking": "Let me "}, "done": False},
                {**_ollama(), "message": {"role": "assistant", "content": "", "thinking": "see."}, "done": False},
                *(
                    {**_ollama(), "message": {"role": "assistant", "content": "", "tool_calls": [it]}, "done": False}
                    for it in OF_OLLAMA
                ),
                {**_ollama(), "message": {"role": "assistant", "content": ""}},
            ],
            [_tell("8"), _tell("10")],
            id="chunks",
        ),
        pytest.param(
            [{**_ollama(*OF_OLLAMA), "done": False, "done_reason": None}], [_tell("8"), _tell(CUT)], id="broken off"
        ),
    ],
)
async def test_ollama_gets_its_own_form(open_twin: OpenTwin, said: Any, answers: list[Any]) -> None:
    """The message as its model wrote it, and the answers by the names of the tools."""
    twin = await open_twin(double)

    messages = await twin.ask("run", said)

    calls = WITH_IDS if "tool_call_id" in answers[0] else OF_OLLAMA
    assert messages == [{"role": "assistant", "content": "", "thinking": "Let me see.", "tool_calls": calls}, *answers]
    assert await twin.ask("run", said, answers_only=True) == answers


async def test_a_loop_of_ollama_ends(open_twin: OpenTwin) -> None:
    """Where its model calls no tool."""
    twin = await open_twin(double)

    assert await twin.ask("run", _ollama()) == []
    assert await twin.ask("run", {"message": {"role": "assistant", "content": "8."}, "done": True}) == []
    assert await twin.ask("run", SimpleNamespace(model_dump=lambda **_: _ollama())) == []


async def test_calls_of_ollama_can_wait_for_a_person(open_twin: OpenTwin) -> None:
    """Though they have no ids."""
    twin = await open_twin(double, refund)
    call = {"function": {"name": "refund", "arguments": {"order": 7}}}

    messages = await twin.ask("run", _ollama(OF_OLLAMA[0], call), ask=lambda _: True)

    assert messages[1:] == [_tell("8"), {**_tell("Refunded 100 for order 7."), "tool_name": "refund"}]
