"""Servers that end are asked in the earlier way too, and why they have ended is said."""

import asyncio
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.features.mcp_client.entries import write_servers
from tests.features.mcp_client.http_server import run_server
from tests.features.mcp_client.test_offered import call, list_names, read_status, wait_for_status, wait_until
from tests.kit.clients import MakeClient

SERVER = Path(__file__).with_name("failing.py")


def describe(way: str, *args: str, **env: str) -> dict[str, Any]:
    """Describe a server that fails in such a way."""
    return {"command": sys.executable, "args": [str(SERVER), way, *args], "env": env}


async def test_a_server_that_ends_at_a_new_message_is_asked_in_the_earlier_way(
    make_client: MakeClient, tmp_path: Path
) -> None:
    """At once, in a process of its own; and in that way alone when it comes back."""
    starts = tmp_path / "starts"
    client = await make_client(mcp_servers=write_servers(kit=describe("earlier", STARTS=str(starts))))

    status = await wait_for_status(client, state="connected")
    before = starts.read_text().split()
    lost = await call(client, "kit__tool_7")
    await wait_for_status(client, state="connected", connects=2)

    assert (status["tools"], status["connects"], status["revision"]) == (188, 1, "2025-11-25")
    assert before == ["start", "server/discover", "start", "initialize"]
    assert lost["response_metadata"]["error"]["retryable"] is True
    assert starts.read_text().split()[4:] == ["start", "initialize"]
    assert (await call(client, "kit__tool_1"))["content"] == "done"


@pytest.mark.parametrize(
    "way",
    [
        "drops",
        "breaks off",
        "500 text/html",
        "404 text/plain",
        "401 text/html",
        "200 text/html",
        "200 application/json",
    ],
)
async def test_a_server_at_a_url_that_takes_a_new_message_badly_is_asked_in_the_earlier_way(
    make_client: MakeClient, way: str
) -> None:
    """However it fails."""
    with run_server(way) as (url, heard):
        client = await make_client(mcp_servers=write_servers(kit={"url": url}))
        status = await wait_for_status(client, state="connected")
        message = await call(client, "kit__echo", words="hello")

        assert (status["revision"], status["connects"], message["content"]) == ("2025-11-25", 1, "hello")
        assert heard[:2] == ["server/discover", "initialize"]


async def test_a_server_at_a_url_that_refuses_both_ways_is_asked_once(make_client: MakeClient) -> None:
    """Since an answer shows that it knows no better; when it is ready, the newest way counts still."""
    with run_server("refuses") as (url, heard):
        client = await make_client(mcp_servers=write_servers(kit={"url": url}))
        status = await wait_for_status(client, state="down")

        async def is_tried_again() -> bool:
            return len(heard) >= 6

        await wait_until(is_tried_again)

    assert heard[:6] == ["server/discover", "initialize"] * 3
    assert status["trouble"] == "It refuses to be connected to: Server returned an error response"


async def test_a_server_that_ends_always_is_asked_in_both_ways(make_client: MakeClient, tmp_path: Path) -> None:
    """Twice at once the first time alone, then in turn."""
    starts = tmp_path / "starts"
    client = await make_client(mcp_servers=write_servers(kit=describe("silent", STARTS=str(starts))))
    await wait_for_status(client, state="down")
    at_first = starts.read_text().count("start")

    async def is_tried_again() -> bool:
        return starts.read_text().count("start") >= 4

    await wait_until(is_tried_again)

    assert at_first == 2


async def test_a_server_counts_as_connected_when_its_tools_are_offered(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    """All of them, also after it was killed."""
    caplog.set_level("INFO", logger="sidecall")
    client = await make_client(mcp_servers=write_servers(kit=describe("sound")))

    for connects in (1, 2):
        while (status := await read_status(client))["state"] != "connected" or status["connects"] < connects:
            assert status["state"] != "connected" or status["tools"] == 188
            await asyncio.sleep(0)
        assert len(await list_names(client)) == 188
        if connects == 1:
            await call(client, "kit__tool_7")

    assert [it.getMessage() for it in caplog.records if "is connected" in it.getMessage()] == [
        "MCP server kit is connected, tools: 188"
    ] * 2


@pytest.mark.parametrize(
    ("entry", "trouble"),
    [
        (describe("silent"), "It has ended with exit code 3."),
        (describe("done"), "It has ended with exit code 0: nothing to do"),
        (describe("words"), "It has ended with exit code 1: KeyError: 'PORT'"),
        (describe("unended"), "It has ended with exit code 2: no line ends here"),
        (describe("later"), "It has ended with exit code 7: no such table"),
        (describe("colours"), "It has ended with exit code 1: fatal: bell  end"),
        (describe("progress"), "It has ended with exit code 1: gave up"),
        (describe("frame"), "It has ended with exit code 1: the reason"),
        (describe("long"), "It has ended with exit code 1: " + "x" * 300),
        (describe("node"), "It has ended with exit code 1: Error: Cannot find module 'x'"),
        (
            describe("secret", "--token", "zq9-token", KIT_TOKEN="t0p", DSN="postgres://ann:pw77@db/x", MODE="dry"),
            "It has ended with exit code 1: t0p [redacted] dry [redacted]",
        ),
        (
            describe("secret", "", "x", KIT_TOKEN="s3cret", DSN="a-long-opaque-value-1", MODE="production"),
            "It has ended with exit code 1: [redacted] [redacted] production x",
        ),
        (describe("killed"), "It was ended by SIGKILL."),
        (describe("segfault"), "It was ended by SIGSEGV."),
        ({"command": "no-such-program"}, "The command no-such-program cannot be started: No such file or directory."),
        ({"command": str(SERVER)}, f"The command {SERVER} cannot be started: Permission denied."),
        (
            {**describe("silent"), "cwd": "/nowhere"},
            f"The command {sys.executable} cannot be started: its cwd, /nowhere, is no folder.",
        ),
    ],
)
async def test_why_a_server_has_ended_is_said(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture, entry: dict[str, Any], trouble: str
) -> None:
    """By its status and by the log."""
    client = await make_client(mcp_servers=write_servers(kit=entry))

    status = await wait_for_status(client, state="down")

    assert status["trouble"] == trouble
    assert f"MCP server kit is out of reach, its tools are not offered: {trouble}" in caplog.text


async def test_why_a_server_has_ended_under_a_call_is_said(
    make_client: MakeClient, caplog: pytest.LogCaptureFixture
) -> None:
    """As at its start."""
    client = await make_client(mcp_servers=write_servers(kit=describe("sound")))
    await wait_for_status(client, state="connected")

    await call(client, "kit__tool_7")

    await wait_for_status(client, connects=2)
    assert "are not offered: It was ended by SIGKILL: out of luck" in caplog.text


async def test_a_server_has_ended_where_what_it_has_started_holds_its_output(make_client: MakeClient) -> None:
    """Which says nothing until the time is up."""
    entry = {"command": "sh", "args": ["-c", "sleep 60 & echo why >&2; exit 3"]}
    client = await make_client(mcp_servers=write_servers(kit=entry), mcp_connect_timeout=0.5)

    status = await wait_for_status(client, state="down")

    assert status["trouble"] == "It has ended with exit code 3: why"
