"""Operators see MCP servers and accept changed tools over HTTP, as with the command."""

from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.features.mcp_client.entries import describe_kit, write_servers
from tests.features.mcp_client.test_offered import connect_with, list_names, own, wait_for_tool
from tests.kit.callers.keys import write_keys
from tests.kit.clients import MakeClient

ACCEPT = "/mcp-servers/kit/accept"


async def connect(make_client: MakeClient, pins: Path, *modes: str, **more: Any) -> httpx.AsyncClient:
    """Offer the tools of the small server, pinned in this file."""
    return await connect_with(make_client, describe_kit(*modes), {"mcp_pin": True, "mcp_pins_file": pins, **more})


async def see(client: httpx.AsyncClient) -> Any:
    """Return what is said of the small server."""
    [server] = (await client.get("/mcp-servers")).json()
    return server


async def test_a_changed_tool_is_accepted_as_it_was_seen(make_client: MakeClient, tmp_path: Path) -> None:
    """And is offered then; the audit says by whom."""
    await connect(make_client, tmp_path / "pins.json")
    client = await connect(make_client, tmp_path / "pins.json", "reworded", "more")
    before = await see(client)
    waiting = {tool["name"]: tool for tool in before["waiting_tools"]}
    stale = await client.post(ACCEPT, json={"tools": {"extra.tool": waiting["extra.tool"]["hash"], "echo": "0"}})
    seen = await client.post(ACCEPT, json={"tools": {"echo": waiting["echo"]["hash"]}})
    await wait_for_tool(client, "kit__echo")
    named = await client.post(ACCEPT, json={"tools": ["extra.tool"], "schema_only": True})
    after = await see(client)
    audit = (await client.get("/audit?action=tools_accepted")).json()

    assert (before["name"], before["state"], sorted(waiting)) == ("kit", "connected", ["echo", "extra.tool"])
    assert waiting["echo"]["change"] == "-Give the words back.\n+Give the words back, they say."
    assert (stale.status_code, stale.json()["type"]) == (409, "urn:sidecall:problem:nothing-waits")
    assert stale.json()["detail"].startswith("No tool of kit called echo waits as you name it")
    assert seen.json() == {"name": "kit", "accepted": ["echo"], "waiting": ["extra.tool"]}
    assert named.json() == {"name": "kit", "accepted": ["extra.tool"], "waiting": []}
    assert after["waiting_tools"] == []
    assert after["accepted"] == before["accepted"] + 1
    assert [(it["target"], it["details"]) for it in audit] == [
        ("kit", {"tools": ["extra.tool"], "schema_only": True}),
        ("kit", {"tools": ["echo"]}),
    ]


async def test_all_that_wait_are_accepted_without_a_body(make_client: MakeClient, tmp_path: Path) -> None:
    """Once; then nothing waits any more."""
    await connect(make_client, tmp_path / "pins.json")
    client = await connect(make_client, tmp_path / "pins.json", "reworded", "more")

    answers = [await client.post(ACCEPT) for _ in range(2)]
    await wait_for_tool(client, "kit__echo")

    assert answers[0].json()["accepted"] == ["echo", "extra.tool"]
    assert (answers[1].status_code, answers[1].json()["detail"]) == (409, "No tool of kit waits to be accepted.")


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/mcp-servers/other/accept", {}, 404),
        (ACCEPT, {}, 409),
        (ACCEPT, {"tools": ["add"]}, 409),
        (ACCEPT, {"tools": []}, 409),
        (ACCEPT, {"tools": "echo"}, 422),
        (ACCEPT, {"tools": {"echo": 1}}, 422),
        (ACCEPT, {"tool": ["echo"]}, 422),
        (ACCEPT, {"schema_only": "yes"}, 422),
        (ACCEPT, [], 422),
    ],
)
async def test_what_cannot_be_accepted_is_refused(make_client: MakeClient, path: str, body: Any, status: int) -> None:
    """Where tools are not pinned, nothing waits."""
    client = await connect_with(make_client, describe_kit(), {})

    answer = await client.post(path, json=body)

    assert answer.status_code == status
    assert "kit__echo" in await list_names(client)


async def test_a_file_that_cannot_be_used_is_named(make_client: MakeClient, tmp_path: Path) -> None:
    """It is the operator's, who has to mend it."""
    pins = tmp_path / "pins.json"
    client = await connect(make_client, pins)
    pins.write_text("[]")

    answers = [await client.get("/mcp-servers"), await client.post(ACCEPT)]

    assert [answer.status_code for answer in answers] == [503, 503]
    assert all(str(pins) in answer.json()["detail"] for answer in answers)


async def test_a_name_may_have_slashes(make_client: MakeClient, tmp_path: Path) -> None:
    """As that of a repository; it takes the same scope."""
    servers = write_servers(**{"example.org/kit": describe_kit()})
    headers = write_keys(tmp_path / "keys.jsonl", {"ann": ("server:operate",), "bob": ("tools:call",)})
    access = {"auth": "api_key", "keys_file": tmp_path / "keys.jsonl"}
    client = await make_client(own, mcp_servers=servers, mcp_pin=True, mcp_pins_file=tmp_path / "pins.json", **access)

    answers = [
        (await client.post(f"/mcp-servers/{name}/accept", headers=headers[who])).json()
        for who, name in (("ann", "example.org%2Fkit"), ("ann", "example.org/kit"), ("bob", "example.org/kit"))
    ]

    assert [answer["type"].rpartition(":")[2] for answer in answers] == ["nothing-waits"] * 2 + ["missing-scope"]


async def test_there_may_be_no_servers(make_client: MakeClient) -> None:
    """Then none are listed."""
    client = await make_client()

    assert (await client.get("/mcp-servers")).json() == []
    assert (await client.post(ACCEPT)).status_code == 404
