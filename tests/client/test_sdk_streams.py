"""The streams of the providers' SDKs are run as they are, also when they were read to their end."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic, AsyncAnthropic
from openai import AsyncOpenAI, OpenAI

from tests.client.conftest import OpenApp
from tests.client.desk import double
from tests.client.said import ANTHROPIC_EVENTS, CHAT_CHUNKS, ITEMS, RESPONSES
from tests.client.test_turns import ANTHROPIC_MESSAGES, CHAT_MESSAGES, RESPONSES_MESSAGES
from tests.client.twins import make_twin

ASK: Any = {"model": "scripted", "messages": [{"role": "user", "content": "Double 4."}]}
RESPONSES_EVENTS = [
    {"type": "response.created", "sequence_number": 0, "response": {**RESPONSES, "output": []}},
    *(
        {"type": f"response.output_item.{what}", "sequence_number": 1, "output_index": index, "item": item}
        for index, item in enumerate(ITEMS)
        for what in ("added", "done")
    ),
    {"type": "response.completed", "sequence_number": 2, "response": RESPONSES},
]
# Of each stream: what its provider sends, what to append, and how it is asked for; the last are helpers of the SDKs.
STREAMS: dict[str, tuple[list[Any], list[Any], Callable[[Any], Any]]] = {
    "chat": (CHAT_CHUNKS, CHAT_MESSAGES, lambda sdk: sdk.chat.completions.create(**ASK, stream=True)),
    "responses": (
        RESPONSES_EVENTS,
        RESPONSES_MESSAGES,
        lambda sdk: sdk.responses.create(input="4", model="m", stream=True),
    ),
    "anthropic": (
        ANTHROPIC_EVENTS,
        ANTHROPIC_MESSAGES,
        lambda sdk: sdk.messages.create(**ASK, max_tokens=9, stream=True),
    ),
    "chat, helper": (CHAT_CHUNKS, CHAT_MESSAGES, lambda sdk: sdk.chat.completions.stream(**ASK)),
    "responses, helper": (RESPONSES_EVENTS, RESPONSES_MESSAGES, lambda sdk: sdk.responses.stream(input="4", model="m")),
    "anthropic, helper": (ANTHROPIC_EVENTS, ANTHROPIC_MESSAGES, lambda sdk: sdk.messages.stream(**ASK, max_tokens=9)),
}
# As their providers send them where the connection is lost before the end.
BROKEN = {"chat": CHAT_CHUNKS[:-1], "anthropic": ANTHROPIC_EVENTS[:-2]}
HELPERS = [name for name in STREAMS if name.endswith("helper")]


def answer_with(events: list[Any]) -> Callable[[httpx2.Request], httpx2.Response]:
    """Make a provider that answers with these events."""

    def answer(_: httpx2.Request) -> httpx2.Response:
        def write() -> Iterator[str]:
            for event in events:
                yield from ([f"event: {event['type']}\n"] if "type" in event else [])
                yield f"data: {json.dumps(event)}\n\n"

        return httpx2.Response(200, text="".join(write()), headers={"Content-Type": "text/event-stream"})

    return answer


def make_sdk(name: str, *, is_async: bool, events: list[Any] | None = None) -> Any:
    """Make the client of a provider whose server is scripted."""
    transport = httpx2.MockTransport(answer_with(events or STREAMS[name][0]))
    client = httpx2.AsyncClient(transport=transport) if is_async else httpx2.Client(transport=transport)
    kinds: Any = (AsyncAnthropic if is_async else Anthropic, AsyncOpenAI if is_async else OpenAI)
    return kinds[0 if name.startswith("anthropic") else 1](api_key="none", http_client=client)


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_is_run(open_app: OpenApp, name: str) -> None:
    """As a program without an event loop has it."""
    twin = make_twin("blocking", await open_app(double))
    _, expected, ask = STREAMS[name]

    with make_sdk(name, is_async=False) as sdk, ask(sdk) as stream:
        assert await twin.ask("run", stream) == expected
    await twin.ask("close")


@pytest.mark.parametrize("name", STREAMS)
async def test_a_stream_of_an_event_loop_is_run(open_app: OpenApp, name: str) -> None:
    """As the async SDKs have it."""
    twin = make_twin("asynchronous", await open_app(double))
    _, expected, ask = STREAMS[name]

    async with make_sdk(name, is_async=True) as sdk:
        opened = ask(sdk)
        async with opened if name in HELPERS else await opened as stream:
            assert await twin.client.run(stream) == expected
    await twin.ask("close")


@pytest.mark.parametrize("name", HELPERS)
async def test_a_helper_that_was_read_is_run(open_app: OpenApp, name: str) -> None:
    """Its program has shown the words as they came; what it came to is an object of the SDK too."""
    twin = make_twin("asynchronous", await open_app(double))
    _, expected, ask = STREAMS[name]

    async with make_sdk(name, is_async=True) as sdk, ask(sdk) as stream:
        seen = [event async for event in stream]
        assert seen
        assert await twin.client.run(stream) == expected
    await twin.ask("close")


@pytest.mark.parametrize("name", ["chat", "chat, helper", "anthropic", "anthropic, helper"])
async def test_of_a_stream_that_broke_off_the_last_call_is_not_run(open_app: OpenApp, name: str) -> None:
    """No matter what has put it together."""
    twin = make_twin("blocking", await open_app(double))
    events = BROKEN[name.partition(",")[0]]

    with make_sdk(name, is_async=False, events=events) as sdk, STREAMS[name][2](sdk) as stream:
        (answer,) = await twin.ask("run", stream, answers_only=True)
    await twin.ask("close")

    told = answer["content"] if name.startswith("chat") else answer["content"][0]["content"]
    assert told.startswith("The call was cut off")
