"""What a program reads that has made a mistake with the client: what is wrong, and what to write."""

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from sidecall import tool
from sidecall.client import AsyncSidecall, NotThere, ServerUnreachable, Sidecall, load_tools
from sidecall.client.connection import make_operations
from sidecall.client.failures import RequestRefused
from sidecall.client.langchain import load_tools as load_langchain_tools
from sidecall.client.remote import aload_tools
from sidecall.client.steps import Walk
from sidecall.testing import run_server
from tests.kit.postgres import find_free_port


@tool(tags=["sums"])
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool(tags=["texts"])
def upper(text: str) -> str:
    """Write a text in capitals."""
    return text.upper()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A running server's address."""
    with run_server([add, upper]) as address:
        yield address.url


@pytest.mark.parametrize("route", ["tools", "tool_calls", "mcp", "docs", "openapi.json", "v1"])
def test_the_address_of_a_route_is_recognised(url: str, route: str) -> None:
    """It is what people copy; the server's own is named."""
    with Sidecall(f"{url}/{route}") as server, pytest.raises(RequestRefused) as refused:
        load_tools(server)

    assert refused.value.detail.endswith(f"The client was given {url}/{route}: should it be {url}?")


def test_another_address_below_the_server_is_not_doubted(url: str) -> None:
    """It may be a prefix of a proxy."""
    with Sidecall(f"{url}/sidecall") as server, pytest.raises(RequestRefused) as refused:
        load_tools(server)

    assert "should it be" not in str(refused.value)


async def test_where_no_server_answers_is_said() -> None:
    """With what to do, and without the password of the address."""
    place = f"127.0.0.1:{find_free_port()}"
    expected = re.escape(f"no server answers at http://{place} (GET /tools: ") + ".*Start one with `sidecall serve`"

    ours = Sidecall(f"http://ada:hunter2@{place}", retries=0)
    with ours as server, pytest.raises(ServerUnreachable, match=expected) as unreachable:
        server.tools()
    assert "hunter2" not in str(unreachable.value)
    async with AsyncSidecall(f"http://{place}", retries=0) as awaited:
        with pytest.raises(ServerUnreachable, match=expected):
            await awaited.tools()


MISTAKES = [
    ({"filters": ["add"]}, 'filters is a dict such as {"names": ["calculator"]}, not [\'add\']'),
    ({"filters": "add"}, 'filters is a dict such as {"names": ["calculator"]}, not \'add\''),
    (
        {"filters": {"name": ["add"]}},
        "there is no filter name; there are context, names, search, strict, tags, toolset",
    ),
    (
        {"names": ["add"]},
        "a tool does not take names; tools are chosen by `filters`; there are approval_wait, approvals, ask, context,"
        " conversation, key, on_progress, state, timeout",
    ),
    (
        {"aprovals": "wait"},
        "a tool does not take aprovals; there are approval_wait, approvals, ask, context, conversation, key,"
        " on_progress, state, timeout",
    ),
]


@pytest.mark.parametrize(("given", "said"), MISTAKES)
async def test_what_would_have_no_effect_is_refused(url: str, given: dict[str, Any], said: str) -> None:
    """With what there is."""
    with Sidecall(url) as server, pytest.raises(TypeError) as refused:
        load_tools(server, **given)
    assert str(refused.value) == said
    async with AsyncSidecall(url) as awaited:
        with pytest.raises(TypeError) as refused:
            await aload_tools(awaited, **given)
    assert str(refused.value) == said


def test_an_unknown_filter_is_refused_by_the_clients(url: str) -> None:
    """As by the adapters."""
    said = "there is no filter name; there are context, names, search, strict, tags, toolset"
    wrong: dict[str, Any] = {"name": ["add"]}
    with Sidecall(url) as server:
        for list_tools in (server.tools, server.show_tools):
            with pytest.raises(TypeError, match=said):
                list_tools(**wrong)
        with pytest.raises(TypeError, match=said):
            load_langchain_tools(server, filters=wrong)


@pytest.mark.parametrize("filters", [{"names": "add"}, {"names": ["add"]}, {"tags": "sums"}, {"tags": ("sums",)}])
def test_one_text_is_one_name(url: str, filters: Any, caplog: pytest.LogCaptureFixture) -> None:
    """Not the list of its letters."""
    with Sidecall(url) as server:
        assert [it.name for it in load_tools(server, filters=filters)] == ["add"]
    assert [it for it in caplog.records if it.name == "sidecall.client"] == []


@pytest.mark.parametrize("names", ["ad", ["add", "ad"]])
async def test_a_name_that_is_not_offered_is_logged(url: str, names: Any, caplog: pytest.LogCaptureFixture) -> None:
    """The agent would do without a tool that its program counts on."""
    with Sidecall(url) as server:
        load_tools(server, filters={"names": names})
    async with AsyncSidecall(url) as awaited:
        await aload_tools(awaited, filters={"names": names})

    logged = [it.getMessage() for it in caplog.records if it.name == "sidecall.client"]
    assert logged == ["the server offers no tool called ad, or not to this caller"] * 2


@pytest.mark.parametrize(("slug", "is_gone"), [("unknown-tool", True), ("not-found", False)])
def test_a_tool_that_is_renamed_while_all_are_listed_is_left_out(slug: str, is_gone: bool) -> None:
    """The others are loaded; a proxy that knows only the list is no such case."""
    request = httpx.Request("GET", "http://sidecall/tools/old")
    problem = {"type": f"urn:sidecall:problem:{slug}", "detail": "No."}
    walk = Walk(make_operations({}).show_tools({}))
    walk.go_on(httpx.Response(200, json=[{"name": "old"}, {"name": "new"}]))

    if not is_gone:
        with pytest.raises(NotThere):
            walk.go_on(httpx.Response(404, json=problem, request=request))
        return
    walk.go_on(httpx.Response(404, json=problem, request=request))
    walk.go_on(httpx.Response(200, json={"name": "new", "definition": {}, "args_schema": {}}))
    assert [it["name"] for it in walk.result] == ["new"]
