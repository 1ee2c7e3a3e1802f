"""Workers whose supervisor is killed end: the next start gets their address and store, and finds what was accepted."""

import signal
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.conftest import Serve
from tests.kit.fleets import wait_for
from tests.kit.processes import has_ended, list_descendants
from tests.kit.servers import CLIENT, Server

TOOLS = '''
import asyncio
import time
from pathlib import Path

from sidecall import ToolAnnotations, tool


async def _wait(mark: str) -> str:
    with Path("effects").open("a") as effects:
        effects.write(f"{mark}\\n")
    while not Path(mark).exists() and not Path("go").exists():
        await asyncio.sleep(0.02)
    return f"done {mark}"


@tool(idempotency="tool_call_id")
async def book(mark: str) -> str:
    """Book, and wait for a file.

    Args:
        mark: What.
    """
    return await _wait(mark)


@tool(annotations=ToolAnnotations(idempotent=True))
async def put(mark: str) -> str:
    """Put, and wait for a file.

    Args:
        mark: What.
    """
    return await _wait(mark)


@tool(executor="inline")
def block() -> None:
    """Hold up the event loop."""
    Path("blocked").touch()
    time.sleep(600)
'''


@pytest.fixture
def serve(start_server: Serve, tmp_path: Path) -> Callable[..., Server]:
    """Give a function that starts two workers with the store that ships."""
    (tmp_path / "waiting_tools.py").write_text(TOOLS)

    def start(**settings: str) -> Server:
        kept = {"SIDECALL_STORE": "", "SIDECALL_MAX_RUNNING_JOBS": "2"}
        return start_server("--tools", "waiting_tools.py", "--workers", "2", cwd=tmp_path, **kept, **settings)

    return start


def send(server: Server, mark: str) -> str:
    """Send a call that goes on alone, and return where it is found."""
    name = mark.partition(" ")[0]
    body = {"name": name, "args": {"mark": mark}, "id": mark, "type": "tool_call"}
    answer = CLIENT.post(f"{server.url}/tool_calls", json=body, headers={"Prefer": "respond-async"})
    return f"/tool_calls/{answer.json()['id']}"


def ask(server: Server, place: str) -> Any:
    """Return what is said of a call."""
    answer = CLIENT.get(f"{server.url}{place}")
    return answer.json()["status"] if answer.status_code == 200 else answer.status_code


def kill(server: Server) -> list[int]:
    """Kill the first process alone, and return those that it leaves behind."""
    left = list_descendants(server.process.pid)
    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    return left


def test_the_next_start_finds_what_was_accepted(serve: Callable[..., Server], tmp_path: Path) -> None:
    """What was queued runs, what ran ends by its tool's promise, and nothing that promises to run once runs twice."""
    first = serve()
    marks = [f"{name} {number}" for number in range(5) for name in ("book", "put")]
    (tmp_path / marks[0]).touch()
    places = {marks[0]: send(first, marks[0])}
    wait_for(lambda: ask(first, places[marks[0]]) == "succeeded")
    places |= {mark: send(first, mark) for mark in marks[1:]}
    wait_for(lambda: Counter(ask(first, place) for place in places.values())["running"] >= 2)
    before = {mark: ask(first, place) for mark, place in places.items()}
    left = kill(first)
    second = serve()
    assert all(has_ended(process) for process in left)
    (tmp_path / "go").touch()
    wait_for(lambda: {ask(second, place) for place in places.values()} <= {"succeeded", "outcome_unknown"})

    may_be_lost = {mark for mark, status in before.items() if status == "running" and mark.startswith("book")}
    ends = {mark: ask(second, place) for mark, place in places.items()}
    effects = Counter((tmp_path / "effects").read_text().splitlines())
    assert "queued" in before.values()
    assert {mark for mark, end in ends.items() if end != "succeeded"} <= may_be_lost
    assert {mark: effects[mark] for mark in marks if mark.startswith("book")} == dict.fromkeys(marks[::2], 1)
    assert [send(second, mark) for mark in marks[::2]] == [places[mark] for mark in marks[::2]]
    assert Counter((tmp_path / "effects").read_text().splitlines()) == effects
    assert second.stop() == 0


def test_one_whose_loop_stands_still_ends_as_well(serve: Callable[..., Server], tmp_path: Path) -> None:
    """Long before its tool does, and the others with it: nobody else would end it."""
    server = serve(SIDECALL_DRAIN_TIMEOUT="600", SIDECALL_DRAIN_GRACE="600")
    body = b'{"name": "block", "args": {}, "id": "1"}'
    head = (
        f"POST /tool_calls HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    )
    with socket.create_connection((server.host, server.port)) as asking:
        asking.sendall(head.encode() + b"\r\n\r\n" + body)
        wait_for((tmp_path / "blocked").exists)
        left = kill(server)

        assert all(has_ended(process) for process in left)
