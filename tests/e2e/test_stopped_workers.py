"""A worker that is stopped is replaced; one whose event loop is blocked is not."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx

from tests.e2e.conftest import Serve
from tests.kit.fleets import wait_for
from tests.kit.servers import Server

TOOLS = '''
import asyncio
import os
import time
from pathlib import Path

from sidecall import tool


@tool
async def where() -> int:
    """Return the process."""
    return os.getpid()


@tool
async def stay() -> None:
    """Tell which process this is, and stay."""
    Path("stays").write_text(str(os.getpid()))
    await asyncio.sleep(600)


@tool(executor="inline")
def block() -> int:
    """Hold up the event loop until there is a file."""
    Path("blocked").write_text(str(os.getpid()))
    while not Path("go").exists():
        time.sleep(0.02)
    return os.getpid()
'''


def call(server: Server, name: str) -> Any:
    """Call a tool over a connection of its own; return its content, or how the connection ended."""
    body = {"name": name, "args": {}, "id": "1", "type": "tool_call"}
    try:
        return httpx.post(f"{server.url}/tool_calls", json=body, timeout=120).json()["content"]
    except httpx.TransportError as error:
        return type(error)


def read(file: Path) -> int:
    """Wait for the file of a tool, and return the process in it."""
    wait_for(lambda: file.exists() and file.read_text() != "")
    return int(file.read_text())


def test_a_stopped_one_is_replaced_and_a_busy_one_is_not(start_server: Serve, tmp_path: Path) -> None:
    """Who waits for it is disconnected, and another one answers."""
    (tmp_path / "told_tools.py").write_text(TOOLS)
    settings = {"SIDECALL_WORKER_SILENT_AFTER": "6"}
    server = start_server("--tools", "told_tools.py", "--workers", "2", cwd=tmp_path, **settings)
    with ThreadPoolExecutor(2) as clients:
        blocking = clients.submit(call, server, "block")
        busy = read(tmp_path / "blocked")
        waiting = clients.submit(call, server, "stay")
        stopped = read(tmp_path / "stays")

        os.kill(stopped, signal.SIGSTOP)
        lost, other = waiting.result(), int(call(server, "where"))
        (tmp_path / "go").touch()

    assert (lost, blocking.result()) == (httpx.RemoteProtocolError, str(busy))
    assert other not in (busy, stopped)
    assert f"worker {stopped} gives no sign of life for 6 s, as if it was stopped, and is killed" in server.log
    assert server.log.count("another one takes its place") == 1
    assert server.stop() == 0
