"""What any provider's model says is run, and what comes back is what its next request takes."""

from collections.abc import AsyncIterator
from typing import Any

import pytest
from anthropic.types import Message, RawMessageStreamEvent
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response
from pydantic import TypeAdapter

from sidecall.client import ApprovalNeeded, AsyncSidecall, UnknownAnswer
from sidecall.client.accumulator import gather
from sidecall.client.model_output import read_turn
from tests.client.conftest import OpenApp, OpenTwin
from tests.client.desk import double, refund
from tests.client.said import (
    ANTHROPIC,
    ANTHROPIC_EVENTS,
    BLOCKS,
    CHAT,
    CHAT_CHUNKS,
    CONTENT,
    GEMINI,
    GEMINI_CHUNKS,
    ITEMS,
    RESPONSES,
    RESPONSES_EVENTS,
)
from tests.client.twins import make_twin

SAID = CHAT["choices"][0]["message"]
CHAT_MESSAGES = [SAID, {"role": "tool", "tool_call_id": "call_1", "content": "8"}]
RESPONSES_MESSAGES = [*ITEMS, {"type": "function_call_output", "call_id": "call_1", "output": "8"}]
RESULT = {"type": "tool_result", "tool_use_id": "call_1", "content": "8", "is_error": False}
ANTHROPIC_MESSAGES = [{"role": "assistant", "content": BLOCKS}, {"role": "user", "content": [RESULT]}]
PART = {"functionResponse": {"id": "call_1", "name": "double", "response": {"output": "8"}}}
GEMINI_MESSAGES = [CONTENT, {"role": "user", "parts": [PART]}]
READ_EVENT: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        pytest.param(CHAT, CHAT_MESSAGES, id="chat"),
        pytest.param(ChatCompletion.model_validate(CHAT), CHAT_MESSAGES, id="chat, object"),
        pytest.param(SAID, CHAT_MESSAGES, id="chat, message"),
        pytest.param(CHAT_CHUNKS, CHAT_MESSAGES, id="chat, chunks"),
        pytest.param(iter(CHAT_CHUNKS), CHAT_MESSAGES, id="chat, stream"),
        pytest.param([ChatCompletionChunk.model_validate(it) for it in CHAT_CHUNKS], CHAT_MESSAGES, id="chat, objects"),
        pytest.param(RESPONSES, RESPONSES_MESSAGES, id="responses"),
        pytest.param(Response.model_validate(RESPONSES), RESPONSES_MESSAGES, id="responses, object"),
        pytest.param(RESPONSES_EVENTS, RESPONSES_MESSAGES, id="responses, items"),
        pytest.param(
            [*RESPONSES_EVENTS, {"type": "response.completed", "response": RESPONSES}],
            RESPONSES_MESSAGES,
            id="responses, events",
        ),
        pytest.param(ANTHROPIC, ANTHROPIC_MESSAGES, id="anthropic"),
        pytest.param(Message.model_validate(ANTHROPIC), ANTHROPIC_MESSAGES, id="anthropic, object"),
        pytest.param(ANTHROPIC_EVENTS, ANTHROPIC_MESSAGES, id="anthropic, events"),
        pytest.param(
            [READ_EVENT.validate_python(it) for it in ANTHROPIC_EVENTS if it["type"] != "ping"],
            ANTHROPIC_MESSAGES,
            id="anthropic, objects",
        ),
        pytest.param(GEMINI, GEMINI_MESSAGES, id="gemini"),
        pytest.param(CONTENT, GEMINI_MESSAGES, id="gemini, content"),
        pytest.param(GEMINI_CHUNKS, GEMINI_MESSAGES, id="gemini, chunks"),
    ],
)
async def test_each_provider_gets_its_answers(open_app: OpenApp, said: Any, expected: Any) -> None:
    """Behind what its model has said; whole, in chunks, as dicts and as objects of the SDKs."""
    twin = make_twin("asynchronous", await open_app(double))

    assert await twin.ask("run", said) == expected
    await twin.ask("close")


@pytest.mark.parametrize(
    ("said", "expected"),
    [(CHAT, CHAT_MESSAGES[1:]), (RESPONSES, RESPONSES_MESSAGES[2:]), (ANTHROPIC, ANTHROPIC_MESSAGES[1:])],
)
async def test_the_answers_alone_are_to_be_had(open_twin: OpenTwin, said: Any, expected: Any) -> None:
    """For conversations that the provider keeps."""
    twin = await open_twin(double)

    assert await twin.ask("run", said, answers_only=True) == expected


@pytest.mark.parametrize(
    "said",
    [
        {"choices": []},
        {"choices": [{"message": {"role": "assistant", "content": "Hello."}}]},
        {"output": [{"type": "message", "role": "assistant", "content": []}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Hello."}]},
        {"candidates": [{"content": {"role": "model", "parts": [{"text": "Hello."}]}}]},
        {"candidates": [{"finishReason": "SAFETY"}]},
        {"promptFeedback": {"blockReason": "SAFETY"}},
        {"candidates": None, "prompt_feedback": {"block_reason": "SAFETY"}},
        {"usageMetadata": {"promptTokenCount": 4}},
        [{"promptFeedback": {"blockReason": "SAFETY"}}],
        [{"usageMetadata": {"promptTokenCount": 4}}, {"promptFeedback": {"blockReason": "SAFETY"}}],
    ],
)
async def test_nothing_is_to_append_where_no_tool_is_called(open_twin: OpenTwin, said: Any) -> None:
    """So that a loop ends."""
    twin = await open_twin(double)

    assert (await twin.ask("run", said), await twin.ask("run", said, answers_only=True)) == ([], [])


async def test_a_stream_of_an_event_loop_is_read(open_app: OpenApp) -> None:
    """As the async SDKs give it."""

    async def stream() -> AsyncIterator[Any]:
        for chunk in CHAT_CHUNKS:
            yield chunk

    client: AsyncSidecall = make_twin("asynchronous", await open_app(double)).client

    assert await client.run(stream()) == CHAT_MESSAGES
    await client.close()


async def test_arguments_that_were_cut_off_reach_the_model_as_its_mistake(open_app: OpenApp) -> None:
    """And the provider gets back what it takes."""
    twin = make_twin("asynchronous", await open_app(double))
    events = [event for event in ANTHROPIC_EVENTS if event.get("delta", {}).get("partial_json") != ": 4}"]

    said, answered = await twin.ask("run", events)

    assert said["content"][2]["input"] == {}
    assert answered["content"][0]["is_error"] is True
    await twin.ask("close")


async def test_a_turn_goes_on_when_a_person_has_decided(open_twin: OpenTwin) -> None:
    """Calls that have run do not run again."""
    twin = await open_twin(double, refund)
    calls = [
        {"id": "call_1", "type": "function", "function": {"name": "double", "arguments": '{"number": 4}'}},
        {"id": "call_2", "type": "function", "function": {"name": "refund", "arguments": '{"order": 7}'}},
    ]
    said = {"role": "assistant", "content": None, "tool_calls": calls}

    with pytest.raises(ApprovalNeeded, match="refund") as needed:
        await twin.ask("run", said)
    await twin.ask("approvals.approve", needed.value.approvals[0].id)
    messages = await twin.ask("run", needed.value.turn)
    asked = await twin.ask("run", said, ask=lambda _: False)

    assert [message["content"] for message in messages[1:]] == ["8", "Refunded 100 for order 7."]
    assert len(asked) == 3


async def test_what_parsers_add_goes_not_back() -> None:
    """But what the model wrote does, no matter what it is called."""
    call = {"id": "a", "type": "tool_use", "name": "n", "input": {"parsed": 1}, "parsed_output": 2}
    function = {"name": "n", "arguments": "{}", "parsed_arguments": {}}
    chat = {"role": "assistant", "content": "", "parsed": None, "tool_calls": [{"id": "a", "function": function}]}

    (said,) = read_turn({"role": "assistant", "content": [call]}).said
    (message,) = read_turn(chat).said

    assert said["content"] == [{"id": "a", "type": "tool_use", "name": "n", "input": {"parsed": 1}}]
    assert (list(message), list(message["tool_calls"][0]["function"])) == (
        ["role", "content", "tool_calls"],
        ["name", "arguments"],
    )


@pytest.mark.parametrize(
    ("item", "is_ours"),
    [
        ({"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}}, True),
        ({"type": "shell_call", "call_id": "c", "environment": {"type": "local"}}, True),
        ({"type": "shell_call", "call_id": "c", "environment": {"type": "container_reference"}}, False),
        ({"type": "apply_patch_call", "call_id": "c"}, True),
        ({"type": "custom_tool_call", "call_id": "c", "name": "double", "input": "4"}, True),
        ({"type": "mcp_approval_request", "id": "c"}, True),
        ({"type": "tool_search_call", "call_id": "c", "execution": "server"}, False),
        ({"type": "web_search_call", "id": "c"}, False),
        ({"type": "reasoning", "id": "c"}, False),
    ],
)
def test_built_in_tools_are_run_where_the_provider_does_not(item: dict[str, Any], is_ours: bool) -> None:
    """As they are."""
    assert read_turn({"output": [item]}).calls == ([item] if is_ours else [])


def test_a_custom_tool_of_a_chat_is_run() -> None:
    """As a function is."""
    call = {"id": "c", "type": "custom", "custom": {"name": "double", "input": "4"}}
    assert read_turn({"role": "assistant", "content": None, "tool_calls": [call]}).calls == [call]


@pytest.mark.parametrize("said", ["text", 4, {}, [], [{"a": 1}], {"role": "user", "content": "Hello"}, [1]])
def test_anything_else_is_refused(said: Any) -> None:
    """So that no loop ends in silence."""
    with pytest.raises(UnknownAnswer):
        read_turn(said)


def test_citations_are_gathered() -> None:
    """Where Anthropic's models quote."""
    events = [
        {"type": "message_start", "message": {}},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "citations_delta", "citation": {"a": 1}}},
    ]

    assert gather(events)["content"] == [{"type": "text", "text": "", "citations": [{"a": 1}]}]
