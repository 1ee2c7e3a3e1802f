"""Clients of MCP that are not the official one list and call tools as they would those of any server."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.clients.conftest import find_clients, run_beside
from tests.e2e.conftest import Serve
from tests.e2e.test_mcp import TOOLS
from tests.kit.servers import Server
from tests.kit.waiting import until

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def server(start_server: Serve, tmp_path_factory: pytest.TempPathFactory) -> Server:
    """Serve tools."""
    folder = tmp_path_factory.mktemp("tools")
    (folder / "kit.py").write_text(TOOLS)
    return start_server("--tools", str(folder))


async def test_fastmcp(server: Server, tmp_path: Path) -> None:
    """With progress, a call that is cancelled, an image, and an approval."""
    python = find_clients("fastmcp") / "bin/python"

    told = json.loads(run_beside(python, [str(HERE / "use_fastmcp.py"), str(tmp_path)], SIDECALL_URL=server.url))

    assert told["names"][:5] == ["add", "walk", "wait", "draw", "refund"]
    assert (told["added"], told["wrong"]) == ({"result": 3}, [True, "b: Field required (integer)"])
    assert (told["drawn"], told["progress"]) == (["image", "image/png"], [[1, 2, None], [2, 2, None]])
    assert (told["refunded"], told["asked"]) == ("Refunded 2.5 of 7.", 1)
    await until(lambda: (tmp_path / "fastmcp").read_text() == "ended")


@pytest.fixture(scope="module")
def cli() -> Path:
    """The Inspector's program for terminals."""
    return find_clients("inspector") / "node_modules/@modelcontextprotocol/inspector-cli/build/cli.js"


def inspect(cli: Path, server: Server, method: str, *more: str) -> Any:
    """Ask a server, and read what the program prints."""
    command = ["node", str(cli), "--cli", f"{server.url}/mcp", "--transport", "http", "--method", method, *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def test_the_inspector_lists_and_calls(cli: Path, server: Server) -> None:
    """It knows no forms: a call that has to be approved says where."""
    listed = inspect(cli, server, "tools/list")["tools"]
    added = inspect(cli, server, "tools/call", "--tool-name", "add", "--tool-arg", "a=1", "b=2")
    drawn = inspect(cli, server, "tools/call", "--tool-name", "draw")
    refund = ["--tool-name", "refund", "--tool-arg", "order=7", "amount=2"]
    refunded = inspect(cli, server, "tools/call", *refund)

    assert [it["name"] for it in listed][:5] == ["add", "walk", "wait", "draw", "refund"]
    assert (added["structuredContent"], added["isError"]) == ({"result": 3}, False)
    assert drawn["content"] == [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"}]
    assert refunded["content"][0]["text"].startswith("Error: refund waits for a person's approval, at http://127.0.0.1")
