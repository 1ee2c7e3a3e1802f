"""A server whose rights in its PostgreSQL are taken away says so once, and goes on when they are granted again."""

import asyncio
import time
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.forked import run_sidecall
from tests.kit.postgres import Estate, cluster, estate
from tests.kit.servers import CLIENT, Server, plain_environment
from tests.kit.waiting import PATIENCE

__all__ = ["cluster", "estate"]

TOOLS = '''
import asyncio
from pathlib import Path

from sidecall import tool


async def _wait(name: str) -> str:
    with Path("ran").open("a") as ran:
        ran.write(name + "\\n")
    while not Path("go").exists():
        await asyncio.sleep(0.01)
    return name


@tool(annotations={"idempotent": True})
async def ask(name: str) -> str:
    """Ask."""
    return await _wait(name)


@tool
async def pay(name: str) -> str:
    """Pay."""
    return await _wait(name)
'''


@pytest.fixture
def server(start_server: Serve, tmp_path: Path, estate: Estate) -> Server:
    """Start a server as a user who may do little."""
    (tmp_path / "tools.py").write_text(TOOLS)
    return start_server("--tools", "tools.py", cwd=tmp_path, SIDECALL_STORE=estate.url)


def send(server: Server, name: str) -> httpx.Response:
    """Send a call that is not waited for."""
    body = {"type": "tool_call", "name": name, "args": {"name": name}, "id": name}
    headers = {"Prefer": "respond-async"}
    return CLIENT.post(f"{server.url}/tool_calls", json=body, headers=headers)


def get(server: Server, path: str) -> httpx.Response:
    """Ask for something."""
    return CLIENT.get(f"{server.url}{path}")


def wait_for(server: Server, path: str, status: int) -> Any:
    """Wait until a path is answered with this status, and return what it says."""
    limit = time.monotonic() + PATIENCE
    while (answer := get(server, path)).status_code != status:
        assert time.monotonic() < limit, answer.text
        time.sleep(0.05)
    return answer.json()


def wait_for_end(server: Server, call_id: str) -> Any:
    """Wait until a call has its end, and return that."""
    limit = time.monotonic() + PATIENCE
    while (entry := get(server, f"/tool_calls/{call_id}").json())["status"] == "running":
        assert time.monotonic() < limit
        time.sleep(0.05)
    return entry


def test_calls_that_run_meanwhile_run_once_and_have_their_ends(server: Server, tmp_path: Path, estate: Estate) -> None:
    """Nobody takes them up: their server lives. What comes meanwhile is told to come again."""
    ids = [send(server, name).json()["id"] for name in ("ask", "pay")]
    asyncio.run(estate.administer("ALTER TABLE calls OWNER TO sidecall", "REVOKE ALL ON calls FROM {user}"))

    ready = wait_for(server, "/readyz", 503)
    refused = [send(server, "pay"), get(server, "/tool_calls")]
    (tmp_path / "go").touch()
    time.sleep(2.0)  # In which ends are tried to be written, and strays are looked for.
    usable = server.metrics()["sidecall_store_usable"]
    asyncio.run(estate.administer("GRANT ALL ON calls TO {user}"))
    wait_for(server, "/readyz", 200)
    ends = [wait_for_end(server, call_id) for call_id in ids]

    assert "the user" in ready["detail"] or "permission denied for table calls" in ready["detail"]
    assert usable == 0.0
    assert [(it.status_code, it.json()["type"], it.headers["retry-after"]) for it in refused] == [
        (503, "urn:sidecall:problem:store-unavailable", "5")
    ] * 2
    assert [(end["status"], end["attempt"]) for end in ends] == [("succeeded", 1)] * 2
    assert (tmp_path / "ran").read_text().split() == ["ask", "pay"]
    assert server.stop() == 0
    assert "Traceback" not in server.log
    assert server.log.count("cannot be used, so") == 1
    assert server.log.count("can be used again") == 1


@pytest.mark.parametrize("change", ["DROP TABLE calls CASCADE", "ALTER TABLE calls OWNER TO sidecall"])
def test_a_start_that_finds_too_little_ends_with_a_line(
    server: Server, tmp_path: Path, estate: Estate, change: str
) -> None:
    """As any other store does that cannot be used, and without a traceback."""
    assert server.stop() == 0
    asyncio.run(estate.administer(change))

    settings = {**plain_environment(), "SIDECALL_STORE": estate.url}
    again = run_sidecall("serve", "--port", "0", "--tools", "tools.py", cwd=tmp_path, environment=settings)

    assert again.returncode == 1
    assert again.stderr.count("(SIDECALL_STORE) cannot be used: ") == 1
    assert "Traceback" not in again.stderr
