"""Several workers share one PostgreSQL, and go on while it is away."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.conftest import Serve
from tests.kit.postgres import Cluster, cluster, emptied_url
from tests.kit.servers import CLIENT, Server
from tests.kit.waiting import PATIENCE

__all__ = ["cluster", "emptied_url"]

TOOLS = '''
from typing import Annotated

from sidecall import InjectedStore, Store, tool


@tool
def note(text: str, store: Annotated[Store, InjectedStore]) -> int:
    """Write down."""
    store.put(("notes",), text, {"length": len(text)}, ttl=5)
    return len(store.search(("notes",), limit=1000))


@tool
async def find(length: int, store: Annotated[Store, InjectedStore]) -> list[str]:
    """Find what is longer."""
    return [item.key for item in await store.asearch(("notes",), filter={"length": {"$gt": length}}, limit=1000)]


@tool(executor="thread")
async def look(text: str, store: Annotated[Store, InjectedStore]) -> bool:
    """Look in both ways."""
    found = await store.aget(("notes",), text)
    assert found == store.get(("notes",), text)
    return found is not None


@tool
def add(number: int) -> int:
    """Add."""
    return number + 1


@tool(requires_approval=True)
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"
'''


@pytest.fixture
def steady(cluster: Cluster) -> Iterator[Cluster]:
    """Give the database server, and start it again afterwards."""
    yield cluster
    cluster.stop()
    cluster.start()


@pytest.fixture
def server(start_server: Serve, tmp_path: Path, emptied_url: str) -> Server:
    """Start two workers on one database."""
    (tmp_path / "noting.py").write_text(TOOLS)
    return start_server("--tools", "noting.py", "--workers", "2", cwd=tmp_path, SIDECALL_STORE=emptied_url)


def call(server: Server, name: str, **args: Any) -> httpx.Response:
    """Send a call on a connection of its own, so that any worker may get it."""
    with httpx.Client(trust_env=False, timeout=PATIENCE) as client:
        wanted = {"type": "tool_call", "name": name, "args": args, "id": f"{name} {args}"}
        return client.post(f"{server.url}/tool_calls", json=wanted)


def readiness(server: Server) -> int:
    """Ask whether it is ready."""
    return CLIENT.get(f"{server.url}/readyz").status_code


def wait_for_readiness(server: Server, status: int) -> None:
    """Wait until several answers in a row are the same."""
    limit = time.monotonic() + PATIENCE
    while {readiness(server) for _ in range(8)} != {status}:
        assert time.monotonic() < limit
        time.sleep(0.05)


def test_workers_share_what_they_remember(server: Server) -> None:
    """No matter which gets the call, and where the tool runs."""
    counts = [call(server, "note", text="x" * length).json()["content"] for length in range(1, 21)]
    found = [call(server, "find", length=18).json()["content"] for _ in range(10)]
    looked = [call(server, "look", text=text).json()["content"] for text in ("x", "y") * 5]

    assert counts == [str(number) for number in range(1, 21)]
    assert found == [["x" * 19, "x" * 20]] * 10
    assert looked == ["true", "false"] * 5


def test_what_needs_the_database_is_refused_while_it_is_away(server: Server, steady: Cluster) -> None:
    """All else goes on, and nobody has to start the server again."""
    assert call(server, "pay", amount=1).status_code == 202
    steady.stop(signal.SIGKILL)
    wait_for_readiness(server, 503)
    away = [call(server, "pay", amount=2), call(server, "note", text="a"), call(server, "add", number=1)]
    steady.start()
    wait_for_readiness(server, 200)

    # A tool is told as of any other failure, and may do without.
    assert [answer.status_code for answer in away] == [503, 200, 200]
    assert [away[1].json()["status"], away[2].json()["content"]] == ["error", "2"]
    assert call(server, "pay", amount=2).status_code == 202
    assert call(server, "note", text="a").json()["content"] == "1"
    assert server.stop() == 0
