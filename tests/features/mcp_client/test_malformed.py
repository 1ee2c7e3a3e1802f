"""A malformed tool of an MCP server costs itself alone, or only the field that is malformed."""

import json
from typing import Any

import pytest
from httpx2 import AsyncClient

from sidecall.features.mcp_client.link import ListedTool
from sidecall.kernel.core.options import ToolAnnotations
from tests.features.mcp_client.entries import describe_kit, write_servers
from tests.features.mcp_client.test_offered import call, list_names, wait_for_tool
from tests.kit.clients import MakeClient

GOOD: dict[str, Any] = {"name": "good", "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
MODES = pytest.mark.parametrize("mode", [(), ("modern",)], ids=["earlier", "modern"])


def describe(*listed: Any, mode: tuple[str, ...] = ()) -> str:
    """Describe a server that lists these tools."""
    return write_servers(kit=describe_kit(*mode, env={"LISTED": json.dumps(listed)}))


async def show(client: AsyncClient, name: str) -> dict[str, Any]:
    """Show a tool as MCP has it."""
    listed: list[dict[str, Any]] = (await client.get("/tools", params={"format": "mcp"})).json()
    return next(it for it in listed if it["name"] == name)


@MODES
@pytest.mark.parametrize(
    ("field", "changed"),
    [
        ("inputSchema", {"inputSchema": {"type": "object", "properties": []}}),
        ("inputSchema", {"inputSchema": {"type": "string"}}),
        ("inputSchema", {"inputSchema": None}),
        ("inputSchema", {"inputSchema": []}),
        ("inputSchema", {"inputSchema": "object"}),
        ("description", {"description": 5}),
        ("description", {"description": ["Say."]}),
        ("name", {"name": ""}),
        ("name", {"name": 5}),
        ("name", {"name": None}),
    ],
)
async def test_a_bad_tool_is_left_out_by_name(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, field: str, changed: dict[str, Any], mode: tuple[str]
) -> None:
    """The others of its server are offered and called, and the log names tool and field."""
    bad = {"name": "bad", "inputSchema": {"type": "object"}, **changed}
    client = await make_client(mcp_servers=describe(bad, GOOD, mode=mode))
    await wait_for_tool(client, "kit__good")

    assert "kit__bad" not in await list_names(client)
    assert (await call(client, "kit__good", a="b"))["content"] == '{"a": "b"}'
    assert f"its `{field}` is malformed" in caplog.text
    assert field == "name" or "tool 'bad' of MCP server kit" in caplog.text


@MODES
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("annotations", []),
        ("annotations", {"readOnlyHint": "surely"}),
        ("annotations", {"title": 5}),
        ("outputSchema", []),
        ("outputSchema", "text"),
        ("outputSchema", {"type": "object", "properties": []}),
        ("title", 5),
        ("_meta", []),
        ("icons", "none"),
    ],
)
async def test_a_bad_field_costs_only_that(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, field: str, value: Any, mode: tuple[str]
) -> None:
    """The tool is offered without it."""
    client = await make_client(mcp_servers=describe({**GOOD, field: value}, mode=mode))
    await wait_for_tool(client, "kit__good")

    shown = await show(client, "kit__good")

    assert field not in shown
    assert (await call(client, "kit__good", a="b"))["status"] == "success"
    assert field in caplog.text


async def test_titles_and_hints_are_kept(make_client: MakeClient) -> None:
    """They are listed as the server says them."""
    hints = {"title": "Look", "readOnlyHint": True, "openWorldHint": True}
    client = await make_client(mcp_servers=describe({**GOOD, "title": "Look up", "annotations": hints}))
    await wait_for_tool(client, "kit__good")

    good = await show(client, "kit__good")

    assert (good["title"], good["annotations"]) == ("Look up", hints)


async def test_of_two_with_one_name_the_first_is_offered(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    """The log names it."""
    twins = [{**GOOD, "description": words} for words in ("First.", "Second.")]
    client = await make_client(mcp_servers=describe(*twins))
    await wait_for_tool(client, "kit__good")

    assert (await show(client, "kit__good"))["description"] == "First."
    assert "another has its `name`, 'good'" in caplog.text


def test_what_was_pinned_before_is_the_same() -> None:
    """Titles and the newer hint are not part of it, so that an upgrade lets no tool wait."""
    before = ListedTool(name="a", annotations=ToolAnnotations(read_only=True))
    after = ListedTool(name="a", title="A", annotations=ToolAnnotations(read_only=True, title="A", open_world=True))

    assert after.fingerprint == before.fingerprint
