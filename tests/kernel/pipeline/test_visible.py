"""A tool is offered to those for whom its author has enabled it, and does not exist for others."""

import asyncio
import logging
from typing import Any

import pytest

from sidecall import Caller, Registry, StructuredTool, ToolCall, tool
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.pipeline.hooks import is_visible, visible
from tests.kit.clients import MakeClient
from tests.kit.pipelines import make_pipeline

ADA = Caller("ada", scopes=frozenset({"admin"}))


def _named(name: str, is_enabled: Any = True) -> StructuredTool:
    return tool(name, description="Do it.", is_enabled=is_enabled, executor="inline")(lambda: name)


async def for_admins(caller: Caller) -> bool:
    """Enable for some."""
    return "admin" in caller.scopes


async def never(caller: Caller) -> bool:
    """Enable for nobody."""
    return False


def broken(caller: Caller) -> bool:
    """Crash."""
    raise RuntimeError("predicate is broken")


async def broken_later(caller: Caller) -> bool:
    """Crash asynchronously."""
    raise RuntimeError("predicate is broken")


async def cancelled(caller: Caller) -> bool:
    """Wait for what was cancelled."""
    inner = asyncio.ensure_future(asyncio.Event().wait())
    inner.cancel()
    return bool(await inner)


SWITCHES: list[Any] = [
    pytest.param(True, True, id="on"),
    pytest.param(False, False, id="off"),
    pytest.param(lambda caller: caller.subject == "ada", True, id="for this caller"),
    pytest.param(lambda caller: caller.tenant == "acme", False, id="for another"),
    pytest.param(for_admins, True, id="async"),
    pytest.param(never, False, id="async off"),
    # as in the OpenAI Agents SDK
    pytest.param(lambda _: "yes", True, id="truthy"),
    pytest.param(lambda _: None, False, id="falsy"),
    pytest.param(broken, False, id="crash"),
    pytest.param(broken_later, False, id="async crash"),
    pytest.param(cancelled, False, id="cancelled"),
]


@pytest.mark.parametrize(("switch", "expected"), SWITCHES)
async def test_a_tool_is_enabled_for_a_caller_or_not(switch: Any, expected: bool) -> None:
    """Asked alone, and among others."""
    compiled = _named("one", switch).compiled

    assert await is_visible(compiled, ADA) is expected
    assert (await visible([compiled], ADA) == [compiled]) is expected


async def test_tools_are_listed_in_their_order() -> None:
    """Without those that are hidden."""
    tools = [_named("d"), _named("c", False), _named("b", for_admins), _named("a", broken), _named("e")]

    for_ada = await visible([it.compiled for it in tools], ADA)
    for_others = await visible([it.compiled for it in tools], Caller())

    assert [it.name for it in for_ada] == ["d", "b", "e"]
    assert [it.name for it in for_others] == ["d", "e"]


async def test_predicates_are_asked_at_the_same_time() -> None:
    """Each waits for the other."""
    meeting = asyncio.Barrier(2)

    async def meet(caller: Caller) -> bool:
        await meeting.wait()
        return True

    async with asyncio.timeout(20):
        shown = await visible([_named("a", meet).compiled, _named("b", meet).compiled], ADA)

    assert [it.name for it in shown] == ["a", "b"]


async def test_a_crash_of_a_predicate_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    """The operator learns why the tool is missing."""
    caplog.set_level(logging.ERROR, "sidecall")

    await is_visible(_named("one", broken).compiled, ADA)

    assert caplog.messages == ["is_enabled of tool one failed; the tool is hidden"]
    assert "predicate is broken" in caplog.text


async def test_a_hidden_tool_is_unknown_to_a_call() -> None:
    """It is named neither in the list nor among the nearest, and others may call it."""
    registry = Registry([_named("search"), _named("search_all", for_admins)])
    pipeline = make_pipeline(registry)
    call = ToolCall(name="search_all", args={}, id="call_1")

    hidden = await pipeline.run(CallRequest(call))
    shown = await pipeline.run(CallRequest(call, Sender(caller=ADA)))

    assert hidden.content == "Error: search_all is not a valid tool, try one of [search]. Did you mean search?"
    assert hidden.response_metadata["error"]["kind"] == "unknown_tool"
    assert hidden.response_metadata["error"]["nearest"] == ["search"]
    assert shown.content == "search_all"


@pytest.mark.parametrize("switch", [False, never, broken], ids=["off", "never", "crash"])
async def test_a_hidden_tool_is_nowhere_on_the_server(make_client: MakeClient, switch: Any) -> None:
    """Not in the listing, not under its name, not to be called."""
    client = await make_client(_named("search"), _named("search_all", switch))

    listing = (await client.get("/tools")).json()
    detail = await client.get("/tools/search_all")
    message = (await client.post("/tool_calls", json={"name": "search_all", "args": {}})).json()

    assert [entry["function"]["name"] for entry in listing] == ["search"]
    assert (detail.status_code, detail.json()["type"]) == (404, "urn:sidecall:problem:unknown-tool")
    assert detail.json()["detail"] == (
        "There is no tool 'search_all', or it is not visible to you. Did you mean search? GET /tools lists the tools."
    )
    assert message["content"] == "Error: search_all is not a valid tool, try one of [search]. Did you mean search?"


async def test_a_tool_appears_when_its_predicate_changes_its_mind(make_client: MakeClient) -> None:
    """Nothing is remembered from one request to the next."""
    answers = iter([False, True])
    client = await make_client(_named("search", lambda _: next(answers)))

    before = (await client.get("/tools")).json()
    after = (await client.get("/tools")).json()

    assert (before, len(after)) == ([], 1)
