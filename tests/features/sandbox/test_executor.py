"""Tools of one's own run where they see nothing of the machine, and are otherwise as those in processes."""

import asyncio
import socket
from pathlib import Path
from typing import Any

import pytest

from sidecall.features.sandbox import detection, local_sandbox
from sidecall.features.sandbox.detection import SandboxSupport
from sidecall.kernel.core.errors import DefinitionError
from sidecall.kernel.ports.sandbox import SandboxReport
from sidecall.kernel.ports.sandbox_status import show_sandbox
from tests.features.sandbox.machine import open_once
from tests.features.sandbox.own_tools import look_around, never_end, take_memory
from tests.kit.clients import MakeClient


async def _call(client: Any, name: str, **args: Any) -> Any:
    call = {"name": name, "args": args, "id": "call_1", "type": "tool_call"}
    return (await client.post("/tool_calls", json={**call, "context": {"who": "me"}})).json()


async def test_a_tool_sees_nothing_of_the_machine(
    make_client: MakeClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But gets what any tool gets, and its deadline and its memory hold."""
    open_once()
    monkeypatch.setenv("SANDBOX_KEY", "12345")
    canary = tmp_path / "canary.txt"
    canary.write_text("canary")
    client = await make_client(look_around, never_end, take_memory, processes=1)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        seen = await _call(client, "look_around", path=str(canary), port=listener.getsockname()[1])
    late = await _call(client, "never_end")
    large = await _call(client, "take_memory")

    assert seen["content"] == (
        '{"sees": false, "reaches": false, "environment": ["HOME", "LANG", "PATH"], "key": 5, "said": {"who": "me"}}'
    )
    assert late["response_metadata"]["error"]["kind"] == "timeout"
    assert large["response_metadata"]["error"]["kind"] == "execution_error"


async def test_a_server_without_a_sandbox_does_not_start(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says which tool needs one, and what is missing."""

    async def open_none(_: Any) -> SandboxSupport:
        return SandboxSupport(SandboxReport(reason="bubblewrap is not installed"))

    monkeypatch.setattr(detection, "open_sandbox", open_none)

    with pytest.raises(DefinitionError, match="tool 'look_around' needs a sandbox: bubblewrap is not installed"):
        await make_client(look_around)


async def test_what_is_being_tried_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """By who asks about the sandbox, also for a use that needs none of it; where nothing is tried, nothing is begun."""

    async def open_late(_: Any) -> SandboxSupport:
        await asyncio.sleep(0)
        return SandboxSupport(SandboxReport("landlock"))

    monkeypatch.setattr(detection, "open_sandbox", open_late)
    sandbox = local_sandbox.LocalSandbox()
    before = await show_sandbox(sandbox, "python")
    sandbox.begin()
    beside = await show_sandbox(sandbox, "python")

    assert before is not None
    assert beside is not None
    assert (before.profile, before.reason) == ("none", "it was not needed yet")
    assert (beside.profile, beside.reason) == ("landlock", None)
