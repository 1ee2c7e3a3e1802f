"""MCP servers as people install them are served through ours, and end with it."""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from mcp import Client

from tests.e2e.conftest import Serve
from tests.e2e.real_servers import INSTALLED, is_installed
from tests.features.mcp_client.entries import describe_kit, write_servers
from tests.kit.servers import CLIENT, Server
from tests.kit.sources import ROOT
from tests.kit.waiting import PATIENCE

MODULES = INSTALLED / "node_modules/@modelcontextprotocol"

SEEN = '''
from sidecall import ToolContext, tool


@tool
async def seen(context: ToolContext) -> str:
    """Show."""
    return f"{context.headers.get('x-user')} {context.headers.get('x-team')}"
'''


@pytest.fixture(scope="module")
def served(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """A server that offers the tools of three others."""
    if not is_installed():
        pytest.skip("the servers are not installed: with npm, scripts/install-mcp-servers gets them")
    folder = tmp_path_factory.mktemp("files")
    (folder / "note.txt").write_text("a note")
    servers = write_servers(
        everything={"command": "node", "args": [str(MODULES / "server-everything/dist/index.js")]},
        files={"command": "node", "args": [str(MODULES / "server-filesystem/dist/index.js"), str(folder)]},
        time={"command": str(INSTALLED / "mcp-2/bin/mcp-server-time"), "args": ["--local-timezone", "UTC"]},
    )
    server = start_server(SIDECALL_MCP_SERVERS=servers, NOTES=str(folder))
    wait_until(lambda: set(read_states(server).values()) == {"connected"})
    return server


def wait_until(holds: Callable[[], Any], patience: float = PATIENCE) -> None:
    """Wait until something holds."""
    end = time.monotonic() + patience
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def read_states(server: Server) -> dict[str, str]:
    """Return the state of each server, as readiness says it."""
    states: dict[str, str] = CLIENT.get(f"{server.url}/readyz").json()["mcp_servers"]
    return states


def call(server: Server, name: str, **args: Any) -> dict[str, Any]:
    """Call a tool."""
    body = {"name": name, "args": args, "id": "1"}
    message: dict[str, Any] = CLIENT.post(f"{server.url}/tool_calls", json=body, timeout=PATIENCE).json()
    return message


def list_children(pid: int, word: str) -> list[int]:
    """List the processes that a process has started with this word in their command."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in children if word in Path(f"/proc/{child}/cmdline").read_text()]


def test_servers_of_packages_are_listed_and_called(served: Server) -> None:
    """Each by what it does."""
    names = [tool["function"]["name"] for tool in CLIENT.get(f"{served.url}/tools").json()]
    folder = call(served, "files__list_allowed_directories")["content"].splitlines()[1]

    echoed = call(served, "everything__echo", message="hello")
    summed = call(served, "everything__get-sum", a=2, b="3")
    note = call(served, "files__read_text_file", path=f"{folder}/note.txt")
    outside = call(served, "files__read_text_file", path="/etc/passwd")
    now = call(served, "time__get_current_time", timezone="Europe/Berlin")

    assert {"everything__echo", "files__write_file", "time__convert_time"} <= set(names)
    assert echoed["content"] == "Echo: hello"
    assert summed["content"] == "The sum of 2 and 3 is 5."
    assert note["content"] == "a note"
    assert (outside["status"], "Access denied" in outside["content"]) == ("error", True)
    assert json.loads(now["content"])["timezone"] == "Europe/Berlin"


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_they_are_served_over_mcp_again(served: Server, mode: str) -> None:
    """With images and structured results, in both of its ways of speaking."""
    async with Client(f"{served.url}/mcp", mode=mode) as client:
        listed = {tool.name: tool for tool in (await client.list_tools()).tools}
        image = await client.call_tool("everything__get-tiny-image", {})
        weather = await client.call_tool("everything__get-structured-content", {"location": "Chicago"})

    assert listed["everything__get-structured-content"].output_schema is not None
    assert "image" in [block.type for block in image.content]
    assert weather.structured_content is not None
    assert weather.structured_content["conditions"]


def test_a_server_that_is_killed_comes_back(served: Server) -> None:
    """In a process of its own."""
    before = list_children(served.process.pid, "mcp-server-time")

    os.kill(before[0], signal.SIGKILL)
    wait_until(lambda: list_children(served.process.pid, "mcp-server-time") not in ([], before))
    wait_until(lambda: read_states(served)["time"] == "connected")

    assert call(served, "time__get_current_time", timezone="UTC")["status"] == "success"


def test_a_server_that_ends_at_a_new_message_is_served(start_server: Serve) -> None:
    """In the way of earlier revisions; whenever it counts as connected, its tools are there."""
    program = str(ROOT / "tests/features/mcp_client/failing.py")
    entry = {"command": sys.executable, "args": [program, "earlier"]}
    server = start_server(SIDECALL_MCP_SERVERS=write_servers(kit=entry))
    wait_until(lambda: read_states(server)["kit"] == "connected")
    listed = CLIENT.get(f"{server.url}/tools?tag=mcp:kit").json()

    lost = call(server, "kit__tool_7")
    wait_until(lambda: read_states(server)["kit"] == "connected" and call(server, "kit__tool_1")["status"] == "success")

    assert len(listed) == 188
    assert lost["response_metadata"]["error"]["retryable"] is True
    server.wait_for("It was ended by SIGKILL: out of luck")


@pytest.fixture
def started(start_server: Serve) -> Iterator[tuple[Server, list[int]]]:
    """A server whose MCP server has started a program, and the ids of both of those."""
    server = start_server(SIDECALL_MCP_SERVERS=write_servers(kit=describe_kit()))
    wait_until(lambda: read_states(server)["kit"] == "connected")
    wait_until(lambda: "kit__start_child" in CLIENT.get(f"{server.url}/tools").text)
    yield server, json.loads(call(server, "kit__start_child")["content"])
    server.stop()


def is_there(pid: int) -> bool:
    """Return whether a process runs."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_processes_end_with_the_server(started: tuple[Server, list[int]], number: signal.Signals) -> None:
    """With all that they have started, also where it is killed."""
    server, pids = started
    assert all(map(is_there, pids))

    os.kill(server.process.pid, number)

    wait_until(lambda: not any(map(is_there, pids)))


async def test_what_is_the_callers_goes_with_each_call(start_server: Serve, tmp_path: Path) -> None:
    """To a server at a private address, which sees it of that caller alone."""
    tools = tmp_path / "seen.py"
    tools.write_text(SEEN)
    inner = start_server("--tools", str(tools))
    entry = {
        "url": f"{inner.url}/mcp",
        "headers": {"X-Team": "core"},
        "caller_headers": {"X-User": "user ${header:X-Caller}"},
    }
    outer = start_server(SIDECALL_MCP_SERVERS=write_servers(inner=entry))
    body = {"name": "inner__seen", "args": {}, "id": "1"}

    async with httpx.AsyncClient(base_url=outer.url, trust_env=False, timeout=PATIENCE) as client:
        wait_until(lambda: read_states(outer)["inner"] == "connected")
        said = [await client.post("/tool_calls", json=body, headers={"X-Caller": name}) for name in ("ann", "bob")]
        unsaid = await client.post("/tool_calls", json=body)
        status = (await client.get("/status")).json()["mcp_servers"][0]
        inner.stop()
        lost = (await client.post("/tool_calls", json=body, headers={"X-Caller": "ann"})).json()
        wait_until(lambda: read_states(outer)["inner"] == "down")
        start_server("--tools", str(tools), "--port", str(inner.port))
        wait_until(lambda: read_states(outer)["inner"] == "connected")
        again = (await client.post("/tool_calls", json=body, headers={"X-Caller": "ann"})).json()

    assert [answer.json()["content"] for answer in said] == ["user ann core", "user bob core"], outer.log
    assert unsaid.status_code == 422
    assert status["revision"] == "2026-07-28"
    assert lost["status"] == "error"
    assert again["content"] == "user ann core"
