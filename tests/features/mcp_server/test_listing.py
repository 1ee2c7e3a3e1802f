"""Tools are listed in pages, in their order."""

from typing import Any

import pytest

from sidecall import ApprovalRequired, Registry, tool
from sidecall.features.mcp_server.listing import ToolPages
from sidecall.features.mcp_server.revisions import RpcError
from sidecall.kernel.core.context import ANONYMOUS
from tests.features.mcp_server.messages import ask
from tests.kit.clients import MakeClient
from tests.kit.pipelines import make_pipeline


@tool
async def first(a: int) -> int:
    """Come first."""
    return a


@tool
async def second() -> str:
    """Come second."""
    return ""


@tool(requires_approval=True)
async def third() -> None:
    """Come third."""


@tool
async def fourth() -> None:
    """Come fourth, and ask a person."""
    raise ApprovalRequired("Really?")


async def test_a_tool_says_that_its_calls_may_wait(make_client: MakeClient) -> None:
    """Whether it is asked about, or asks itself."""
    client = await make_client(first, third, fourth)

    listed = (await ask(client, "tools/list")).json()["result"]["tools"]

    waits = {"sidecall/requires_approval": True}
    assert [item.get("_meta") for item in listed] == [None, waits, waits]


async def test_the_list_is_that_of_the_other_door(make_client: MakeClient) -> None:
    """As `GET /tools?format=mcp` has it, with how long it holds; all who ask are answered the same."""
    client = await make_client(first, second, third)

    result = (await ask(client, "tools/list")).json()["result"]

    assert result["tools"] == (await client.get("/tools?format=mcp")).json()
    assert [item["name"] for item in result["tools"]] == ["first", "second", "third"]
    assert result["tools"][0]["outputSchema"] == {
        "type": "object",
        "properties": {"result": {"type": "integer"}},
        "required": ["result"],
    }
    assert ["outputSchema" in item for item in result["tools"]] == [True, False, False]
    assert (result["ttlMs"], result["cacheScope"], result["resultType"]) == (60_000, "public", "complete")


async def test_a_list_that_is_not_for_all_is_private(make_client: MakeClient) -> None:
    """A tool may be hidden from some callers."""

    @tool(is_enabled=lambda caller: caller.subject == "ann")
    async def hidden() -> None:
        """Be there for Ann."""

    client = await make_client(second, hidden, caller_header="X-User")
    nobody = (await ask(client, "tools/list")).json()["result"]
    client.headers["X-User"] = "ann"
    ann = (await ask(client, "tools/list")).json()["result"]

    assert [item["name"] for item in nobody["tools"]] == ["second"]
    assert [item["name"] for item in ann["tools"]] == ["second", "hidden"]
    assert (nobody["cacheScope"], ann["cacheScope"]) == ("private", "private")


async def test_pages_follow_each_other() -> None:
    """A cursor holds while the tool that it names is there."""
    registry = Registry([first, second, third])
    pages = ToolPages(registry, make_pipeline(registry), page=2)

    page = await pages.find(ANONYMOUS, None)
    rest = await pages.find(ANONYMOUS, "second")
    known = await pages.find(ANONYMOUS, "second")
    registry.replace([third])

    assert b'"nextCursor":"second"' in page
    assert b'"third"' in rest
    assert b"nextCursor" not in rest
    assert known == rest
    with pytest.raises(RpcError, match="from its beginning"):
        await pages.find(ANONYMOUS, "second")


@pytest.mark.parametrize("cursor", ["nope", 1, [], {"a": 1}])
async def test_a_cursor_that_leads_nowhere_is_refused(make_client: MakeClient, cursor: Any) -> None:
    """As a parameter of the protocol."""
    client = await make_client(first)

    response = await ask(client, "tools/list", cursor=cursor)

    assert response.json()["error"]["code"] == -32602


@pytest.mark.parametrize(
    ("method", "name", "length"),
    [
        ("resources/list", "resources", 0),
        ("resources/templates/list", "resourceTemplates", 1),
        ("prompts/list", "prompts", 0),
    ],
)
async def test_other_lists_are_answered(make_client: MakeClient, method: str, name: str, length: int) -> None:
    """Many clients ask for all of them, no matter what a server offers."""
    client = await make_client(first)

    result = (await ask(client, method)).json()["result"]
    refused = (await ask(client, method, cursor="x")).json()

    assert len(result[name]) == length
    assert result["ttlMs"] == 60_000
    assert refused["error"]["code"] == -32602
    assert (await ask(client, "prompts/get", name="x")).json()["error"]["code"] == -32602


async def test_without_contents_there_are_no_resources(make_client: MakeClient) -> None:
    """Neither the capability nor its methods."""
    client = await make_client(first, features_off=("contents",))

    discovered = (await ask(client, "server/discover")).json()["result"]
    refused = (await ask(client, "resources/list")).json()["error"]

    assert discovered["capabilities"] == {"tools": {"listChanged": False}, "prompts": {}}
    assert refused["code"] == -32601
