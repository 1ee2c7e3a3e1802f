"""A conversation that cannot be one is refused, whether the tool of the call asks for it or not."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from tests.features.mcp_server.messages import head, write
from tests.kit.clients import MakeClient
from tests.kit.tools import echo

RAN: list[str] = []
CALL = {"name": "note", "args": {"text": "a"}, "id": "1"}
_NAME = "Sidecall-Conversation"
TWICE = [(_NAME, "one"), (_NAME, "two")]
EMPTY = [(_NAME, "")]
BAD = [(_NAME, "a/b")]


@tool
async def note(text: str) -> str:
    """Note something."""
    RAN.append(text)
    return text


@tool(idempotency="tool_call_id")
async def note_once(text: str) -> str:
    """Note something once."""
    RAN.append(text)
    return text


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Serve tools that ask for no conversation."""
    RAN.clear()
    return await make_client(note, note_once, echo)


# A path, a body, and headers.
REQUESTS: list[Any] = [
    pytest.param("/tool_calls", CALL, {}, id="plain"),
    pytest.param("/tool_calls?timeout=5", CALL, {}, id="timeout"),
    pytest.param("/tool_calls", {**CALL, "name": "note_once"}, {}, id="known by its id"),
    pytest.param("/tool_calls", CALL, {"Prefer": "respond-async"}, id="alone"),
    pytest.param("/tool_calls", CALL, {"Idempotency-Key": "k"}, id="key"),
    pytest.param("/tool_calls", CALL, {"Accept": "text/event-stream"}, id="events"),
    pytest.param("/tool_calls?dry_run=true", CALL, {}, id="dry run"),
    pytest.param("/tool_calls/batch", [CALL], {}, id="batch"),
    pytest.param("/tool_calls/batch", [CALL], {"Accept": "text/event-stream"}, id="events of a batch"),
]


@pytest.mark.parametrize("named", [TWICE, EMPTY, BAD], ids=["twice", "empty", "slash"])
@pytest.mark.parametrize(
    ("path", "body", "headers"), [*REQUESTS, pytest.param("/tools/note/call", {"text": "a"}, {}, id="operation")]
)
async def test_a_header_that_names_none_is_refused(
    client: httpx.AsyncClient, path: str, body: Any, headers: dict[str, str], named: list[tuple[str, str]]
) -> None:
    """Before anything runs."""
    refused = await client.post(path, json=body, headers=[*headers.items(), *named])

    assert (refused.status_code, refused.json()["type"]) == (422, "urn:sidecall:problem:missing-context")
    assert _NAME in refused.json()["detail"]
    assert RAN == []


@pytest.mark.parametrize("conversation", ["", "a/b", 7, "x" * 257])
@pytest.mark.parametrize(("path", "body", "headers"), REQUESTS)
async def test_a_context_that_names_none_is_refused(
    client: httpx.AsyncClient, path: str, body: Any, headers: dict[str, str], conversation: Any
) -> None:
    """With the same words."""
    beside = {"context": {"conversation_id": conversation}}
    sent = [{**body[0], **beside}] if isinstance(body, list) else {**body, **beside}

    refused = await client.post(path, json=sent, headers=headers)

    assert (refused.status_code, refused.json()["type"]) == (422, "urn:sidecall:problem:missing-context")
    assert "The conversation (`Sidecall-Conversation` or `context.conversation_id`) must be a text" in refused.text
    assert RAN == []


async def test_a_call_over_mcp_is_refused_alike(client: httpx.AsyncClient) -> None:
    """By the header or by what stands beside the call."""
    good = write("tools/call", name="note", arguments={"text": "a"})
    bad = write("tools/call", {"sidecall/context": {"conversation_id": "a/b"}}, name="note", arguments={"text": "a"})

    answers = [
        await client.post("/mcp", json=message, headers=[*head(message).items(), *named])
        for message, named in ((good, TWICE), (good, EMPTY), (bad, []))
    ]

    assert ["Sidecall-Conversation" in answer.text for answer in answers] == [True] * 3
    assert RAN == []


async def test_a_repetition_is_refused_alike(client: httpx.AsyncClient) -> None:
    """It has the headers of who asks for it."""
    await client.post("/tool_calls", json=CALL, headers={"Prefer": "wait=5"})
    [known] = (await client.get("/tool_calls")).json()

    refused = await client.post(f"/tool_calls/{known['id']}/replay", json={"insist": True}, headers=TWICE)

    assert (refused.status_code, refused.json()["type"]) == (422, "urn:sidecall:problem:missing-context")
    assert RAN == ["a"]


async def test_what_is_no_call_has_no_conversation(client: httpx.AsyncClient) -> None:
    """Lists and contents are those of all."""
    answers = [await client.get(path, headers=TWICE) for path in ("/tools", "/tool_calls", "/readyz")]

    assert [answer.status_code for answer in answers] == [200, 200, 200]
