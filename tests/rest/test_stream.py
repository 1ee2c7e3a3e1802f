"""A caller who wants events is told how far a call is, and its answer as soon as it is there."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Annotated, Any

import httpx
import pytest

from sidecall import InjectedToolArg, ToolContext, ToolException, ToolGuardrailFunctionOutput, tool
from tests.kit.calls import without_tool, write_call
from tests.kit.clients import MakeClient
from tests.kit.events import EVENTS, events_in
from tests.kit.tools import echo
from tests.rest.test_dialect_readers import CALLS


@tool
async def count(to: int, context: ToolContext) -> str:
    """Count."""
    for number in range(1, to + 1):
        await context.progress(number, to, f"at {number}")
    return "counted"


@tool
def count_in_thread(to: int, context: ToolContext) -> str:
    """Count in a thread."""
    for number in range(1, to + 1):
        context.report_progress(number)
    return "counted"


@tool
async def spell(word: str) -> AsyncIterator[str]:
    """Spell a word."""
    for letter in word:
        yield letter


@tool
def spell_in_thread(word: str) -> Iterator[str]:
    """Spell a word in a thread."""
    yield from word


@tool
async def refuse() -> None:
    """Fail, and let the model know."""
    raise ToolException("No.")


@tool(handle_tool_error=None)
async def fail() -> None:
    """Fail, and let the calling program know."""
    raise ToolException("No.", retryable=True)


@tool(tool_input_guardrails=[lambda _: ToolGuardrailFunctionOutput.raise_exception()])
async def guarded() -> None:
    """Never run."""


@tool(requires_approval=True)
async def delete() -> str:
    """Wait for a person."""
    return "deleted"


@tool
async def greet(tenant: Annotated[str, InjectedToolArg]) -> str:
    """Say who asks."""
    return tenant


TOOLS = [echo, count, count_in_thread, spell, spell_in_thread, refuse, fail, guarded, delete, greet]


@pytest.fixture
async def client(make_client: MakeClient) -> httpx.AsyncClient:
    """Ask a server with all of them."""
    return await make_client(*TOOLS)


async def _events(client: httpx.AsyncClient, call: Any, target: str = "/tool_calls") -> list[Any]:
    response = await client.post(target, json=call, headers=EVENTS)
    assert response.status_code == 200
    return events_in(response.text)


async def test_an_answer_is_an_event(client: httpx.AsyncClient) -> None:
    """The only one, when the tool has nothing to say before."""
    [(name, message)] = await _events(client, write_call("echo", text="a\n\nevent: b\ndata: {}"))

    assert name == "message"
    assert (message["content"], message["tool_call_id"]) == ("a\n\nevent: b\ndata: {}", "call_1")


@pytest.mark.parametrize("target", ["/tool_calls", "/tool_calls/batch"])
async def test_the_headers_are_those_of_events(client: httpx.AsyncClient, target: str) -> None:
    """No proxy keeps the events back, and the request has its id."""
    body = write_call("echo", text="a") if target == "/tool_calls" else [write_call("echo", text="a")]

    response = await client.post(target, json=body, headers={**EVENTS, "X-Request-Id": "mine-1"})

    assert dict(response.headers) == {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-cache",
        "x-accel-buffering": "no",
        "x-content-type-options": "nosniff",
        "x-request-id": "mine-1",
    }


@pytest.mark.parametrize(
    ("accept", "media_type"),
    [
        ("text/event-stream", "text/event-stream; charset=utf-8"),
        ("text/event-stream, application/json;q=0.5", "text/event-stream; charset=utf-8"),
        ("Text/Event-Stream", "text/event-stream; charset=utf-8"),  # media types have no case
        ("application/json", "application/json"),
        ("*/*", "application/json"),
        ("text/*", "application/json"),
        ("", "application/json"),
        ("application/json, text/event-stream;q=0", "application/json"),  # not wanted, says the client
    ],
)
@pytest.mark.parametrize("target", ["/tool_calls", "/tool_calls/batch", "/tool_calls?format=openai"])
async def test_events_are_for_those_who_ask_for_them(
    client: httpx.AsyncClient, target: str, accept: str, media_type: str
) -> None:
    """Everybody else is answered as ever."""
    call = write_call("echo", text="a")

    response = await client.post(target, json=[call] if "batch" in target else call, headers={"Accept": accept})

    assert (response.status_code, response.headers["Content-Type"]) == (200, media_type)


@pytest.mark.parametrize("dialect", CALLS)
async def test_an_answer_has_the_dialect_of_its_call(client: httpx.AsyncClient, dialect: str) -> None:
    """It is what a plain answer would be."""
    plain = (await client.post("/tool_calls", json=CALLS[dialect])).json()
    [(_, message)] = await _events(client, CALLS[dialect])
    changing = {"id": None, "response_metadata": None}

    assert {**message, **changing} == {**plain, **changing}


@pytest.mark.parametrize("target", ["/tool_calls", "/tool_calls/batch"])
async def test_an_answer_may_be_asked_for_in_another_form(client: httpx.AsyncClient, target: str) -> None:
    """As without events."""
    call = write_call("echo", text="a")

    [event] = await _events(client, [call] if "batch" in target else call, f"{target}?format=openai")

    assert event == ("message", {"role": "tool", "tool_call_id": "call_1", "content": "a"})


@pytest.mark.parametrize(
    ("name", "total", "said"), [("count", 3, ["at 1", "at 2", "at 3"]), ("count_in_thread", None, ["", "", ""])]
)
async def test_progress_comes_before_the_answer(
    client: httpx.AsyncClient, name: str, total: int | None, said: list[str]
) -> None:
    """All of it, in order, from async tools and from threads."""
    *progress, last = await _events(client, write_call(name, to=3))

    assert progress == [
        ("progress", {"tool_call_id": "call_1", "done": done, "total": total, "message": message})
        for done, message in zip((1, 2, 3), said, strict=True)
    ]
    assert (last[0], last[1]["content"]) == ("message", "counted")


@pytest.mark.parametrize("name", ["spell", "spell_in_thread"])
async def test_parts_come_before_the_answer(client: httpx.AsyncClient, name: str) -> None:
    """Each as soon as a generator yields it; the answer has them all."""
    *parts, last = await _events(client, write_call(name, word="abc"))

    assert parts == [("partial", {"tool_call_id": "call_1", "content": letter}) for letter in "abc"]
    assert (last[0], last[1]["content"]) == ("message", "abc")


async def test_a_failure_for_the_model_is_a_message(client: httpx.AsyncClient) -> None:
    """As without events."""
    [(name, message)] = await _events(client, write_call("refuse"))

    assert (name, message["status"], message["content"]) == ("message", "error", "No.")


async def test_a_call_that_waits_is_an_approval(client: httpx.AsyncClient) -> None:
    """Which can be asked for."""
    [(name, approval)] = await _events(client, write_call("delete"))
    kept = (await client.get(f"/approvals/{approval['id']}")).json()

    assert (name, approval["status"], approval) == ("approval", "pending", without_tool(kept))


@pytest.mark.parametrize(
    ("name", "status", "slug"),
    [
        ("fail", 500, "tool-call-failed"),
        ("guarded", 403, "guardrail-tripped"),
        ("greet", 422, "missing-context"),
    ],
)
async def test_what_would_be_a_status_is_a_problem(
    client: httpx.AsyncClient, name: str, status: int, slug: str
) -> None:
    """The same as without events, but that the status has been sent already."""
    call = write_call(name)
    ids = {"X-Request-Id": "mine-1"}

    plain = await client.post("/tool_calls", json=call, headers=ids)
    told = await client.post("/tool_calls", json=call, headers={**EVENTS, **ids})
    [(event, problem)] = events_in(told.text)
    changing = {"invocation_id": None}

    assert (event, problem["status"], problem["type"]) == ("problem", status, f"urn:sidecall:problem:{slug}")
    assert {**problem, **changing} == {**plain.json(), **changing}


@pytest.mark.parametrize(
    ("target", "body", "status"),
    [
        ("/tool_calls", b"{", 400),
        ("/tool_calls", b"{}", 422),
        ("/tool_calls/batch", b"{}", 422),
        ("/tool_calls/batch", b'[{"name": "echo"}]', 422),
    ],
)
async def test_a_request_that_is_wrong_has_a_status(
    client: httpx.AsyncClient, target: str, body: bytes, status: int
) -> None:
    """There is nothing to run, so there are no events."""
    response = await client.post(target, content=body, headers={**EVENTS, "Content-Type": "application/json"})

    assert (response.status_code, response.headers["Content-Type"]) == (status, "application/problem+json")


async def test_a_batch_is_answered_as_its_calls_are_done(client: httpx.AsyncClient) -> None:
    """Each in its own dialect, with what was said on the way under the id of its call."""
    calls = [
        write_call("count", id="b", to=1),
        {"type": "tool_use", "id": "c", "name": "echo", "input": {"text": "x"}},
        write_call("delete", id="d"),
        write_call("nope", id="e"),
    ]

    events = await _events(client, calls, "/tool_calls/batch")
    told = {_id(message): message for name, message in events if name == "message"}
    anthropic = told.pop("c")
    kinds = {name: message["response_metadata"].get("error", {}).get("kind") for name, message in told.items()}

    assert kinds == {"b": None, "d": "approval_required", "e": "unknown_tool"}
    assert anthropic == {"type": "tool_result", "tool_use_id": "c", "content": "x", "is_error": False}
    assert [said["tool_call_id"] for name, said in events if name == "progress"] == ["b"]


def _id(message: dict[str, Any]) -> str:
    call_id: str = message.get("tool_call_id") or message["tool_use_id"]
    return call_id


async def test_the_first_to_be_done_is_answered_first(make_client: MakeClient) -> None:
    """Not the first in the batch."""
    second_is_done = asyncio.Event()

    @tool
    async def first() -> None:
        """Wait for the other."""
        await second_is_done.wait()

    @tool
    async def second() -> None:
        """Be quick."""
        second_is_done.set()

    client = await make_client(first, second)

    events = await _events(client, [write_call("first", id="1"), write_call("second", id="2")], "/tool_calls/batch")

    assert [message["tool_call_id"] for _, message in events] == ["2", "1"]


async def test_an_empty_batch_has_no_events(client: httpx.AsyncClient) -> None:
    """And ends."""
    assert await _events(client, [], "/tool_calls/batch") == []
