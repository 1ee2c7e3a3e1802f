"""Slow work of one kind holds up no work of another."""

import asyncio
import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sidecall import Workspace, tool
from sidecall.loading.discovery import discover
from sidecall.loading.toolkits import find_files
from tests.kit.clients import MakeClient

MANY = 40


@tool
def note(text: str, *, workspace: Workspace) -> str:
    """Write a text down.

    Args:
        text: What to write.
    """
    workspace.write_bytes("note.txt", text.encode())
    return text


@tool
async def wait_for(path: str) -> str:
    """Wait as code does that knows no better.

    Args:
        path: What to wait for.
    """
    return await asyncio.to_thread(read, path)


def read(path: str) -> str:
    """Read a FIFO, until somebody has written it."""
    return Path(path).read_text()


def search(_: str) -> dict[str, Any]:
    """Call the tool that reads a folder whose disk does not answer."""
    return {"name": "file_search", "args": {"queries": ["herons"]}}


def wait(path: str) -> dict[str, Any]:
    """Call a tool that fills the event loop's own pool."""
    return {"name": "wait_for", "args": {"path": path}}


@pytest.mark.parametrize("slow", [search, wait])
async def test_slow_work_of_one_kind_holds_up_no_other(
    make_client: MakeClient,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    slow: Callable[[str], dict[str, Any]],
) -> None:
    """Neither files, nor listings, nor the server's own, however much of it there is."""
    folder = tmp_path / "docs"
    folder.mkdir()
    (folder / "herons.md").write_text("Herons fish.")
    fifo = folder / "herons.md.attributes.json"
    os.mkfifo(fifo)
    monkeypatch.setenv("SIDECALL_FILE_SEARCH_FOLDER", str(folder))
    client = await make_client(*discover(find_files(["file_search"])), note, wait_for)
    calls = [asyncio.create_task(client.post("/tool_calls", json=slow(str(fifo)))) for _ in range(MANY)]
    await asyncio.sleep(0.1)
    here = {"headers": {"Sidecall-Conversation": "one"}}

    written = await client.post("/tool_calls", json={"name": "note", "args": {"text": "a"}}, **here)
    listed = await client.get("/workspaces/one/files")
    found = await client.get("/tools/search", params={"q": "write a text"})
    others = [await client.get(path) for path in ("/tools?strict=true", "/openapi.json", "/status")]
    removed = await client.delete("/workspaces/one")

    assert written.json()["content"] == "a"
    assert [file["path"] for file in listed.json()["data"]] == ["/workspace/note.txt"]
    assert found.json()[0]["function"]["name"] == "note"
    assert [response.status_code for response in others] == [200, 200, 200]
    assert removed.status_code == 204
    assert not any(call.done() for call in calls)
    await release(fifo, calls)


async def release(fifo: Path, calls: list[asyncio.Task[Any]]) -> None:
    """Write the FIFO for all who read it, until nobody does."""
    while not all(call.done() for call in calls):
        with suppress(OSError):  # Nobody reads it just now.
            os.close(os.open(fifo, os.O_WRONLY | os.O_NONBLOCK))
        await asyncio.sleep(0.01)
