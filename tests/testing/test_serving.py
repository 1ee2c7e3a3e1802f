"""Servers and applications for tests, in the tests' own process."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import BaseToolkit, Registry, tool
from sidecall.client import Sidecall
from sidecall.testing import run_app, run_server
from sidecall.testing.bridge import BackgroundLoop, bridging


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Sums(BaseToolkit):
    """A group of tools."""

    @tool
    def double(self, a: int) -> int:
        """Double a number."""
        return 2 * a


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file with a tool."""
    path = tmp_path / "in_file.py"
    path.write_text('from sidecall import tool\n\n\n@tool\ndef of_file() -> str:\n    """Answer."""\n    return "hi"\n')
    return path


@pytest.mark.parametrize(
    ("tools", "names"),
    [
        (add, ["add"]),
        ([add], ["add"]),
        ((add, Sums()), ["add", "double"]),
        (Sums(), ["double"]),
        (Registry([add]), ["add"]),
        ("FILE", ["of_file"]),
        (["FILE", add], ["of_file", "add"]),
    ],
)
async def test_places_and_objects_are_served(tools: Any, names: list[str], file: Path) -> None:
    """Alone, or in a list."""
    given = [file if it == "FILE" else it for it in tools] if isinstance(tools, list) else tools
    with run_app(str(file) if given == "FILE" else given) as app:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://sidecall") as client:
            listed = (await client.get("/tools")).json()

    assert [it["function"]["name"] for it in listed] == names


def test_a_server_ends_with_its_test() -> None:
    """Its thread and its port with it, though a client has kept its connection."""
    before = {it for it in threading.enumerate() if it.name.startswith("sidecall-testing")}
    client = httpx.Client()
    with run_server(add) as server:
        assert client.get(server + "/healthz").status_code == 200

    after = {it for it in threading.enumerate() if it.name.startswith("sidecall-testing")}
    assert after == before
    with pytest.raises(httpx.TransportError):
        client.get(server + "/healthz")
    client.close()


def test_a_call_that_hangs_does_not_keep_the_test_from_its_end() -> None:
    """It is told that the server ends."""

    @tool(timeout=100)
    async def hang() -> str:
        """Hang."""
        begun.set()
        await asyncio.Event().wait()
        return ""

    begun = threading.Event()
    answers: list[int] = []

    def call(url: str) -> None:
        with contextlib.suppress(httpx.TransportError):
            answers.append(httpx.post(f"{url}/tool_calls", json={"name": "hang", "args": {}}, timeout=30).status_code)

    with run_server(hang, drain_timeout=0.1) as server:
        thread = threading.Thread(target=call, args=(server.url,))
        thread.start()
        begun.wait()
    thread.join()

    assert answers in ([503], [])


def test_a_port_that_is_taken_is_told() -> None:
    """The log has the address."""
    with (
        run_server(add) as server,
        pytest.raises(RuntimeError, match="does not start"),
        run_server(add, port=server.port),
    ):
        pass


def test_two_servers_run_side_by_side() -> None:
    """Each keeps what it remembers."""
    with run_server(add) as one, run_server(Sums()) as other, Sidecall(one.url) as first, Sidecall(other.url) as second:
        assert first.call("add", {"a": 1, "b": 2}).content == "3"
        assert second.call("double", {"a": 4}).content == "8"
        assert second.call("add", {"a": 1, "b": 2}).status == "error"


def test_an_application_that_does_not_start_is_told() -> None:
    """With its own error."""

    @contextlib.asynccontextmanager
    async def fail() -> AsyncIterator[None]:
        raise OSError("no room")
        yield

    async def serve(*_: Any) -> None:
        pass

    with pytest.raises(OSError, match="no room"), bridging(serve, fail()):
        pass


def test_a_loop_in_the_background_ends() -> None:
    """What still runs there is cancelled; to wait for itself is refused."""
    background = BackgroundLoop()
    ended: list[str] = []

    async def run() -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def wait_for_itself() -> None:
        asyncio.get_running_loop().create_task(run())
        background.run(asyncio.sleep(0))

    with pytest.raises(RuntimeError, match="would wait for itself"):
        background.run(wait_for_itself())
    background.run(asyncio.sleep(0))
    background.close()

    assert ended == ["cancelled"]
