"""A call that ran when its server was killed is answered in the form of its item."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Registry, tool
from sidecall.main import create_app
from sidecall.native import PatchOperation, ShellCommand
from sidecall.settings import Settings
from tests.features.native_tools.rest.built_in import (
    CALLER,
    CHECK,
    write_computer_call,
    write_patch_call,
    write_shell_call,
    write_tool_use,
)

BEGUN: list[str] = []


async def _hang(name: str) -> Any:
    BEGUN.append(name)
    await asyncio.Event().wait()


@tool(native="shell", args_schema=ShellCommand, requires_approval=True)
async def shell(commands: list[str], timeout_ms: int | None, max_output_length: int | None) -> Any:
    """Run commands."""
    del timeout_ms, max_output_length
    await _hang(commands[0])


@tool(native="apply_patch", args_schema=PatchOperation, requires_approval=True)
async def patch_file(type: str, path: str, diff: str | None = None) -> Any:
    """Change a file."""
    await _hang(f"{type} {path} {diff}")


@tool(native="computer")
async def use_computer(actions: list[dict[str, Any]]) -> Any:
    """Work at a computer."""
    await _hang(str(actions))


@tool(toolset="browser", requires_approval=True)
async def key(text: str) -> Any:
    """Press a key."""
    await _hang(text)


TOOLS = [shell, patch_file, use_computer, key]
SHELL = {**write_shell_call("ls", max_output_length=100), "caller": CALLER}
COMPUTER = write_computer_call({"type": "click"}, pending_safety_checks=[CHECK])
ROWS = [
    (SHELL, "openai-responses", {"type": "shell_call_output", "max_output_length": 100, "caller": CALLER}, False),
    (SHELL, "openai-responses", {"type": "shell_call_output", "max_output_length": 100, "caller": CALLER}, True),
    (write_patch_call("a.txt"), "openai-responses", {"type": "apply_patch_call_output", "status": "failed"}, False),
    (COMPUTER, "openai-responses", {"type": "computer_call_output", "acknowledged_safety_checks": [CHECK]}, False),
    (write_tool_use("key", toolset_name="browser", text="a"), "anthropic", {"toolset_name": "browser"}, False),
]


@asynccontextmanager
async def _serve(path: Path) -> AsyncIterator[httpx.AsyncClient]:
    app = create_app(Settings(store=f"sqlite:///{path}"), Registry(TOOLS))
    asking = httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://sidecall")
    async with app.router.lifespan_context(app), asking as client:
        yield client


def _copy(path: Path, to: Path) -> None:
    """Keep a database as it is left by a server that is killed now."""
    with sqlite3.connect(path) as source, sqlite3.connect(to) as target:
        source.backup(target)


@pytest.mark.parametrize(("call", "dialect", "repeated", "is_job"), ROWS)
async def test_an_approved_call_that_was_cut_off_is_answered_with_its_item(
    tmp_path: Path, call: dict[str, Any], dialect: str, repeated: dict[str, Any], is_job: bool
) -> None:
    """By the next server, which was told of the item by the store."""
    BEGUN.clear()
    form = {"format": dialect}
    async with _serve(tmp_path / "calls.db") as client:
        prefer = {"Prefer": "respond-async"} if is_job else {}
        waiting = await client.post("/tool_calls", json=call, headers=prefer)
        place = waiting.headers["Location"]
        asked = place
        if is_job:
            job = await client.get(place, headers={"Prefer": "wait=1"})
            asked = f"/approvals/{job.json()['approval_id']}"
        deciding = asyncio.create_task(client.post(asked, json={"decision": "approve"}))
        while not BEGUN:  # noqa: ASYNC110  nobody tells
            await asyncio.sleep(0.01)
        _copy(tmp_path / "calls.db", tmp_path / "left.db")
        deciding.cancel()
    async with _serve(tmp_path / "left.db") as client:
        answer = (await client.get(place, params=form, headers={"Prefer": "wait=5"})).json()["message"]
        plain = (await client.get(place)).json()["message"]
        again = answer if is_job else (await client.post("/tool_calls", json=call)).json()

    assert plain["response_metadata"]["error"]["kind"] == "outcome_unknown"
    assert repeated.items() <= answer.items()
    assert again == answer
