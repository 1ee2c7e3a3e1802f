"""A running server loads tools, toolsets and MCP servers again, without a restart: all of them or none."""

import asyncio
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from bench.environments import ROOT
from tests.kit.forked import run_sidecall
from tests.kit.servers import CLIENT, Server, end, start
from tests.kit.waiting import until

TOOL = '''
@tool
async def {name}(seconds: float = 0) -> str:
    """Answer."""
    await asyncio.sleep(seconds)
    return "{answer}"
'''
HEAD = "import asyncio\nfrom sidecall import tool\n"
REMOTE = {"command": sys.executable, "args": ["-m", "tests.features.mcp_client.server"], "cwd": str(ROOT)}


class Project:
    """A folder with tools, toolsets and MCP servers, and the server of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "box").mkdir()
        self.write(ask="one", other="x")

    def write(self, **tools: str) -> None:
        """Write the file of tools anew, each with its answer."""
        texts = [TOOL.format(name=name, answer=answer) for name, answer in tools.items()]
        (self.folder / "box/mine.py").write_text(HEAD + "".join(texts))

    def settle(self, *toolsets: str, servers: dict[str, Any] | None = None) -> None:
        """Write the other two files."""
        lines = [f'[{name}]\ntools = ["ask"]\ncallers = ["{name}"]\n' for name in toolsets]
        (self.folder / "toolsets.toml").write_text("".join(lines))
        (self.folder / "mcp.json").write_text(json.dumps({"mcpServers": servers or {}}))


Served = tuple[Project, Server]


@pytest.fixture(scope="module", params=["1", "2"], ids=["one process", "two workers"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, origin: None) -> Iterator[Served]:
    """Serve a project, by one process and by several."""
    project = Project(tmp_path_factory.mktemp("project"))
    project.settle()
    environment = {
        "SIDECALL_TOOLSETS": "toolsets.toml",
        "SIDECALL_MCP_SERVERS": "mcp.json",
        "SIDECALL_CALLER_HEADER": "X-Caller",
        "SIDECALL_SCOPES_HEADER": "X-Scopes",
        "SIDECALL_WORKERS": request.param,
    }
    server = start(project.folder, "--tools", "box", environment=environment, cwd=project.folder)
    yield project, server
    end(server.process)


def reload(server: Server, **headers: str) -> httpx.Response:
    """Ask for it."""
    return CLIENT.post(f"{server.url}/reload", headers=headers, timeout=60)


def ask_often(server: Server, name: str = "ask") -> set[str]:
    """Call a tool on new connections, so that each worker is asked."""
    body = {"name": name, "args": {}}
    with httpx.Client(base_url=server.url, headers={"Connection": "close"}, trust_env=False) as client:
        return {str(client.post("/tool_calls", json=body).json()["content"]) for _ in range(6)}


def list_names(server: Server, **headers: str) -> list[str]:
    """List the tools."""
    return [tool["function"]["name"] for tool in CLIENT.get(f"{server.url}/tools", headers=headers).json()]


def test_a_changed_file_serves_and_calls_that_run_go_on(served: Served) -> None:
    """The answer says what is different."""
    project, server = served
    project.write(ask="one", other="x")
    reload(server)

    with ThreadPoolExecutor() as threads:
        body = {"name": "ask", "args": {"seconds": 3}}
        running = threads.submit(httpx.post, f"{server.url}/tool_calls", json=body, timeout=60)
        while not any("sidecall_calls_in_flight" in it and value for it, value in server.metrics().items()):
            pass
        project.write(ask="two", new="y")
        answer = reload(server).json()

    workers = 2 if "2 workers running" in server.log else 1
    assert answer == {
        "tools": {"added": ["new"], "changed": ["ask"], "removed": ["other"]},
        "toolsets": {"added": [], "changed": [], "removed": []},
        "mcp_servers": {"added": [], "changed": [], "removed": []},
        "offered": 2,
        "workers": workers,
    }
    assert ask_often(server) == {"two"}
    assert running.result().json()["content"] == "one"


@pytest.mark.parametrize(
    ("file", "text", "reason"),
    [
        ("box/mine.py", "def broken(:", "mine.py:1 cannot be loaded: SyntaxError"),
        ("box/mine.py", "raise SystemExit(3)", "SystemExit"),
        ("box/twice.py", HEAD + TOOL.format(name="ask", answer="z"), "Two tools are called 'ask'"),
        ("toolsets.toml", "[ask\n", "which is no TOML"),
        ("mcp.json", '{"mcpServers": {"a": {"comand": "x"}}}', "write `command`"),
        ("mcp.json", None, "cannot be read"),
    ],
)
def test_what_is_broken_changes_nothing(served: Served, file: str, text: str | None, reason: str) -> None:
    """It is said in the answer, in the log and in the status, until it is mended; the other files are not taken."""
    project, server = served
    project.write(ask="good")
    project.settle("someone")
    reload(server)

    project.write(ask="better")
    project.settle("another")
    (project.folder / file).unlink(missing_ok=True)
    if text is not None:
        (project.folder / file).write_text(text)
    answer = reload(server)
    status = CLIENT.get(f"{server.url}/status").json()

    assert (answer.status_code, answer.json()["type"]) == (409, "urn:sidecall:problem:reload-failed")
    assert reason in answer.json()["detail"]
    assert reason in "".join(status["load_errors"])
    server.wait_until(lambda log: reason in log)
    assert ask_often(server) == {"good"}
    assert CLIENT.get(f"{server.url}/tools", params={"toolset": "someone"}).status_code == 200
    (project.folder / "box/twice.py").unlink(missing_ok=True)
    project.write(ask="better")
    project.settle("another")
    assert reload(server).json()["toolsets"] == {"added": ["another"], "changed": [], "removed": ["someone"]}
    assert ask_often(server) == {"better"}
    assert CLIENT.get(f"{server.url}/status").json()["load_errors"] == []


def test_toolsets_hold_at_once(served: Served) -> None:
    """The file had none when the server started."""
    project, server = served
    project.write(ask="1", other="2")
    project.settle()
    reload(server)
    before = list_names(server, **{"X-Caller": "me", "X-Scopes": "tools:call"})
    project.settle("me")
    reload(server)

    assert before == ["ask", "other"]
    assert list_names(server, **{"X-Caller": "me", "X-Scopes": "tools:call"}) == ["ask"]


def test_mcp_servers_come_and_go(served: Served) -> None:
    """There was none when the server started."""
    project, server = served
    project.write(ask="1")
    project.settle(servers={"far": REMOTE})
    added = reload(server).json()["mcp_servers"]
    server.wait_until(lambda log: log.count("MCP server far is connected") >= reload(server).json()["workers"])
    project.settle(servers={"far": {**REMOTE, "prefix": False}})
    changed = reload(server).json()["mcp_servers"]
    project.settle()
    removed = reload(server).json()["mcp_servers"]

    assert [added["added"], changed["changed"], removed["removed"]] == [["far"]] * 3
    assert list_names(server) == ["ask"]


def test_the_signal_does_the_same(served: Served) -> None:
    """No matter which process of the server gets it."""
    project, server = served
    started = [int(pid) for pid in re.findall(r"Started server process \[(\d+)\]", server.log)]
    for number, pid in enumerate((server.process.pid, *started)):
        project.write(ask="1", **{f"by_{number}": "2"})
        os.kill(pid, signal.SIGUSR1)
        server.wait_until(lambda log, name=f"by_{number}": log.count(f'"reloaded: ask, {name}"') >= len(started))

        assert ask_often(server, f"by_{number}") == {"2"}


def test_the_command_prints_what_is_different(served: Served) -> None:
    """Its exit code is 1 where something is broken."""
    project, server = served
    project.write(ask="1")
    reload(server)
    project.write(ask="2", more="3")
    environment = {**os.environ, "SIDECALL_URL": server.url}
    good = run_sidecall("reload", cwd=project.folder, environment=environment)
    (project.folder / "box/mine.py").write_text("1 +")
    bad = run_sidecall("reload", "--json", cwd=project.folder, environment=environment)

    assert good.stdout.splitlines()[:2] == ["added    tool more", "changed  tool ask"]
    assert (good.returncode, bad.returncode) == (0, 1)
    assert "cannot be loaded: SyntaxError" in bad.stderr


def test_the_audit_says_who_has_reloaded_and_what_changed(served: Served) -> None:
    """By a request, and by a signal; once for all workers."""
    project, server = served
    operator = {"X-Caller": "ada", "X-Scopes": "server:operate"}

    def list_entries() -> list[dict[str, Any]]:
        url = f"{server.url}/audit?action=reloaded"
        return list(CLIENT.get(url, headers=operator, timeout=60).json())

    before = len(list_entries())
    project.write(ask="audited", fresh="x")
    reload(server, **operator)
    project.write(ask="audited", fresh="x", later="y")
    os.kill(server.process.pid, signal.SIGUSR1)
    asyncio.run(until(lambda: len(list_entries()) == before + 2))
    by_signal, by_request = list_entries()[:2]

    assert by_request["by"] == "ada"
    assert by_request["details"]["tools"]["added"] == ["fresh"]
    assert (by_signal["by"], by_signal["details"]) == (None, {"tools": {"added": ["later"]}, "signal": "SIGUSR1"})
