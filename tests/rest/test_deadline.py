"""A client says how long it waits: that shortens what a tool has, and never lengthens it."""

import asyncio
from typing import Any

import pytest

from sidecall import StructuredTool, ToolContext, tool
from tests.kit.clients import MakeClient
from tests.kit.events import EVENTS, events_in
from tests.kit.virtual_time import now

pytestmark = pytest.mark.virtual_time


@pytest.fixture
def begun() -> list[str]:
    """Collect the names of the calls that began."""
    return []


@pytest.fixture
def hang(begun: list[str]) -> StructuredTool:
    """Make a tool that takes two seconds, of the three that it has."""

    async def hang(name: str) -> str:
        begun.append(name)
        await asyncio.sleep(2)
        return "done"

    made: StructuredTool = tool("hang", description="Hang.", timeout=3, sequential=True)(hang)
    return made


def _call(name: str = "a") -> dict[str, Any]:
    return {"name": "hang", "args": {"name": name}, "id": name}


def _ends(answers: list[Any]) -> list[str]:
    return [answer["response_metadata"].get("error", {}).get("kind", answer["status"]) for answer in answers]


@pytest.mark.parametrize(
    ("allowed", "end", "seconds"),
    [("0.5", "timeout", 0.5), ("5e-1", "timeout", 0.5), ("2.5", "success", 2.0), ("1e9", "success", 2.0)],
)
async def test_a_call_is_answered_in_time(
    make_client: MakeClient, hang: StructuredTool, allowed: str, end: str, seconds: float
) -> None:
    """The tool is stopped, as at its own deadline."""
    client = await make_client(hang)
    started = now()

    answer = await client.post("/tool_calls", params={"timeout": allowed}, json=_call())

    assert answer.status_code == 200
    assert _ends([answer.json()]) == [end]
    assert now() - started == pytest.approx(seconds, abs=0.1)


async def test_the_tools_own_timeout_is_not_lengthened(make_client: MakeClient) -> None:
    """However long the client would wait."""

    @tool(timeout=0.5)
    async def brief() -> None:
        """Hang."""
        await asyncio.sleep(60)

    client = await make_client(brief)

    answer = await client.post("/tool_calls?timeout=50", json={"name": "brief", "args": {}})

    assert answer.json()["content"] == "Error: brief timed out after 0.5 seconds."


async def test_the_servers_timeout_is_shortened(make_client: MakeClient) -> None:
    """Where the tool has none of its own; the tool can read what is left."""

    @tool
    async def look(context: ToolContext) -> bool:
        """Say what is left."""
        return context.remaining is not None and 4 < context.remaining <= 5

    client = await make_client(look)

    answer = await client.post("/tool_calls?timeout=5", json={"name": "look", "args": {}})

    assert answer.json()["content"] == "true"


async def test_a_stream_is_answered_in_time(make_client: MakeClient, hang: StructuredTool) -> None:
    """Its last event says that the time was up."""
    client = await make_client(hang)

    answer = await client.post("/tool_calls?timeout=0.5", json=_call(), headers=EVENTS)

    assert [(name, _ends([said])) for name, said in events_in(answer.text)] == [("message", ["timeout"])]


async def test_a_batch_is_answered_in_time(make_client: MakeClient, hang: StructuredTool) -> None:
    """Each of its calls has no longer than the whole."""
    client = await make_client(hang)

    answer = await client.post("/tool_calls/batch?timeout=0.5", json=[_call("a"), _call("b")])

    assert _ends(answer.json()) == ["timeout", "timeout"]


@pytest.mark.parametrize("headers", [{}, EVENTS])
async def test_a_call_that_waits_for_a_place_waits_no_longer(
    make_client: MakeClient, hang: StructuredTool, begun: list[str], headers: dict[str, str]
) -> None:
    """503, or its event; the tool has not begun."""
    client = await make_client(hang)
    first = asyncio.ensure_future(client.post("/tool_calls", json=_call()))
    await asyncio.sleep(0.1)
    started = now()

    refused = await client.post("/tool_calls?timeout=0.5", json=_call("b"), headers=headers)

    assert now() - started == pytest.approx(0.5, abs=0.1)
    assert "urn:sidecall:problem:overloaded" in refused.text
    assert "seconds in vain" in refused.text
    assert (await first).json()["content"] == "done"
    assert begun == ["a"]


@pytest.mark.parametrize(
    ("allowed", "said"), [("0.25", "0.25 seconds"), ("0.001", "0.001 seconds"), ("1e-9", "less than a millisecond")]
)
async def test_a_wait_is_named_however_short_it_was(
    make_client: MakeClient, hang: StructuredTool, allowed: str, said: str
) -> None:
    """A call that waited in vain, for a place or an answer, is told how long it was allowed to."""
    client = await make_client(hang)
    first = asyncio.ensure_future(client.post("/tool_calls", json=_call()))
    await asyncio.sleep(0.1)

    refused = await client.post("/tool_calls", params={"timeout": allowed}, json=_call("b"))
    await first
    late = await client.post("/tool_calls", params={"timeout": allowed}, json=_call("c"))

    assert refused.json()["detail"] == f"The call waited {said} in vain."
    assert late.json()["content"] == f"Error: hang timed out after {said}."


async def test_an_approved_call_has_the_time_of_who_approves_it(make_client: MakeClient) -> None:
    """That of who sent it was for the answer that it waits."""

    @tool(requires_approval=True)
    async def delete(order: int) -> str:
        """Delete."""
        await asyncio.sleep(2)
        return "deleted"

    client = await make_client(delete)
    decision = {"decision": "approve"}
    first, second = [
        (await client.post("/tool_calls?timeout=0.001", json={"name": "delete", "args": {"order": order}})).json()["id"]
        for order in (1, 2)
    ]

    in_time = await client.post(f"/approvals/{first}", json=decision)
    too_late = await client.post(f"/approvals/{second}?timeout=0.5", json=decision)

    assert _ends([in_time.json()["message"], too_late.json()["message"]]) == ["success", "timeout"]


@pytest.mark.parametrize("allowed", ["0", "-1", "nan", "inf", "soon", ""])
@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls/batch", "/approvals/x"])
async def test_what_is_no_time_is_refused(make_client: MakeClient, path: str, allowed: str) -> None:
    """422 says which parameter is wrong; nothing is run."""
    client = await make_client()

    answer = await client.post(path, params={"timeout": allowed}, json=_call())

    assert answer.status_code == 422
    assert answer.json()["type"] == "urn:sidecall:problem:invalid-parameter"
    assert answer.json()["errors"][0]["loc"] == ["query", "timeout"]
