"""Real MCP servers, of several languages and generations, give through ours what they give when asked directly."""

import asyncio
import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client

from tests.e2e.conftest import Serve
from tests.e2e.real_servers import FOLDER, SERVERS, RealServer, fill_folder, is_installed
from tests.features.mcp_client.entries import write_servers
from tests.kit.processes import list_children, read_command
from tests.kit.servers import CLIENT, Server
from tests.kit.waiting import PATIENCE

# How many are started at once where they are asked directly; each start takes a processor for a second or more.
_AT_ONCE = 2
_MODERN = "2026-07-28"
# What is left out of schemas on the way: it says nothing of a value, or stands where it is referred to.
_SILENT = frozenset(("$defs", "$schema", "title"))

Wire = dict[str, Any]


@dataclass
class Asked:
    """What a server has said: its tools by their names there, and the results of the calls of its row."""

    revision: str = ""
    tools: dict[str, Wire] = field(default_factory=dict)
    results: list[Wire] = field(default_factory=list)


@dataclass
class Compared:
    """What all servers have said: asked directly, through ours, and through ours after they were killed."""

    direct: Mapping[str, Asked]
    through: Mapping[str, Asked]
    revived: Mapping[str, Asked]
    revisions: Mapping[str, str]


async def ask(client: Client, row: RealServer, folder: Path, prefix: str = "") -> Asked:
    """List a server's tools and make the calls of its row."""
    asked = Asked(revision=client.protocol_version)
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        listed = [tool.model_dump(by_alias=True, mode="json", exclude_none=True) for tool in page.tools]
        asked.tools |= {tool["name"].removeprefix(prefix): tool for tool in listed if tool["name"].startswith(prefix)}
        cursor = page.next_cursor
        if not cursor:
            break
    for name, args in row.calls:
        filled = json.loads(json.dumps(args).replace(FOLDER, str(folder)))
        asked.results.append(await call(client, prefix + name, filled, folder))
    return asked


async def call(client: Client, name: str, args: Wire, folder: Path) -> Wire:
    """Make a call, and return what it gave, with the folder's name left out."""
    try:
        result = await client.call_tool(name, args)
    except MCPError as error:
        given: Wire = {"error": error.error.message}
    else:
        given = result.model_dump(by_alias=True, mode="json", exclude_none=True)
        given.pop("_meta", None)  # Names the server that answered.
    said: Wire = json.loads(json.dumps(given).replace(str(folder), FOLDER))
    return said


async def ask_directly(folders: Mapping[str, Path]) -> dict[str, Asked]:
    """Ask each server with the official client."""
    turns = asyncio.Semaphore(_AT_ONCE)

    async def ask_one(name: str, row: RealServer) -> Asked:
        entry = row.describe(folders[name])
        started = StdioServerParameters(**{**entry, "env": {**os.environ, **entry["env"]}})
        mode = _MODERN if row.spoken == _MODERN else "legacy"
        async with turns:
            with open(os.devnull, "w") as unread:  # noqa: ASYNC230  it is no file
                async with Client(stdio_client(started, errlog=unread), mode=mode) as client:
                    return await ask(client, row, folders[name])

    asked = await asyncio.gather(*(ask_one(name, row) for name, row in SERVERS.items()))
    return dict(zip(SERVERS, asked, strict=True))


async def ask_through(server: Server, folders: Mapping[str, Path]) -> dict[str, Asked]:
    """Ask each that is there through our server."""
    rows = {name: row for name, row in SERVERS.items() if name not in find_missing(server)}
    async with Client(f"{server.url}/mcp") as client:
        return {name: await ask(client, row, folders[name], f"{name}__") for name, row in rows.items()}


def wait_for_all(server: Server, holds: Callable[[], bool] = lambda: True) -> None:
    """Wait until the tools of all are offered; the tests of those that never are fail."""
    end = time.monotonic() + PATIENCE
    while not (holds() and find_missing(server) == set()) and time.monotonic() < end:
        time.sleep(0.1)


def find_missing(server: Server) -> set[str]:
    """Return the servers that are not connected, or of which no tool is offered."""
    states = CLIENT.get(f"{server.url}/readyz").json()["mcp_servers"]
    listed = CLIENT.get(f"{server.url}/tools").text
    return {name for name in SERVERS if states[name] != "connected" or f'"{name}__' not in listed}


def kill_all(server: Server) -> None:
    """Kill the process of each server, and wait until others have taken their places."""
    commands = {row.command for row in SERVERS.values()}
    killed = {child for child in list_children(server.process.pid) if commands.intersection(read_command(child))}
    for child in killed:
        os.kill(child, signal.SIGKILL)
    wait_for_all(server, lambda: killed.isdisjoint(list_children(server.process.pid)))


@pytest.fixture(scope="module")
def compared(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Compared:
    """What each server says directly and through ours."""
    if not is_installed():
        pytest.skip("the servers are not installed: with npm, scripts/install-mcp-servers gets them")
    root = tmp_path_factory.mktemp("real")
    apart, folders = ({name: fill_folder(root / kind / name) for name in SERVERS} for kind in ("direct", "through"))
    entries = {name: row.describe(folders[name]) for name, row in SERVERS.items()}
    server = start_server(SIDECALL_MCP_SERVERS=write_servers(**entries))
    direct = asyncio.run(ask_directly(apart))  # While ours connects.
    wait_for_all(server)
    through = asyncio.run(ask_through(server, folders))
    status = CLIENT.get(f"{server.url}/status").json()["mcp_servers"]
    kill_all(server)
    for folder in folders.values():
        shutil.rmtree(folder)
        fill_folder(folder)
    revived = asyncio.run(ask_through(server, folders))
    return Compared(direct, through, revived, {it["name"]: it["revision"] for it in status})


def simplify(schema: Any) -> Any:
    """Write a schema as this server passes it on: in the words of 2020-12, without titles, references in place."""
    return _simplify(schema, schema)


def _simplify(schema: Any, root: Any) -> Any:
    if isinstance(schema, list):
        return [_simplify(item, root) for item in schema]
    if not isinstance(schema, dict):
        return schema
    if "$ref" in schema:
        beside = {name: it for name, it in schema.items() if name != "$ref"}
        return _simplify({**root["$defs"][schema["$ref"].rpartition("/")[2]], **beside}, root)
    # A property may have one of these names: its schema is an object there, and no text.
    kept = {
        name: it for name, it in schema.items() if name not in _SILENT or (name == "title" and isinstance(it, dict))
    }
    return {name: _simplify(it, root) for name, it in kept.items()}


@pytest.mark.parametrize("name", SERVERS)
def test_all_tools_are_listed_as_their_server_says_them(compared: Compared, name: str) -> None:
    """With their descriptions and schemas."""
    said, listed = compared.direct[name], compared.through[name]

    assert list(listed.tools) == list(said.tools)
    for tool, it in said.tools.items():
        there = listed.tools[tool]
        assert there.get("description") == it.get("description"), tool
        assert simplify(there["inputSchema"]) == simplify(it["inputSchema"]), tool
        assert simplify(there.get("outputSchema")) == simplify(it.get("outputSchema")), tool


@pytest.mark.parametrize("name", SERVERS)
def test_calls_give_what_their_server_gives(compared: Compared, name: str) -> None:
    """In the revision that it speaks, and where something differs, that and nothing else."""
    assert compared.revisions[name] == SERVERS[name].spoken
    assert compared.through[name].results == expect(compared.direct[name])


@pytest.mark.parametrize("name", SERVERS)
def test_a_killed_server_comes_back(compared: Compared, name: str) -> None:
    """And gives the same again."""
    assert list(compared.revived[name].tools) == list(compared.direct[name].tools)
    assert compared.revived[name].results == expect(compared.direct[name])


def expect(direct: Asked) -> list[Wire]:
    """Return what comes through ours: a model reads errors of the protocol, so that they are results, too."""
    return [
        {"content": [{"type": "text", "text": f"Error: {it['error']}"}], "isError": True, "resultType": "complete"}
        if "error" in it
        else it
        for it in direct.results
    ]
