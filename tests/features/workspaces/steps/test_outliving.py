"""Files that outlive their conversation, those that an answer names, and those that a program of a tool has written."""

import os
from pathlib import Path
from typing import Annotated, Any

import pytest

from sidecall import InjectedWorkspace, Workspace, tool
from sidecall.native import CommandResult, ShellCommand
from tests.kit.clients import MakeClient


@tool
def remember(text: str, *, files: Annotated[Workspace, InjectedWorkspace(lasting="memory_id")]) -> str:
    """Write something down for good."""
    files.write_bytes("kept.txt", text.encode())
    return "Kept in /workspace/kept.txt."


async def test_lasting_files_are_those_of_whom_the_program_says(make_client: MakeClient, tmp_path: Path) -> None:
    """They outlive every conversation; without a word of it they are the conversation's."""
    client = await make_client(remember, workspace_dir=tmp_path, workspace_idle_ttl=1.0, workspace_ttl=1.0)
    call = {"name": "remember", "args": {"text": "tea"}, "context": {"memory_id": "ann"}}
    kept = (await client.post("/tool_calls", json=call, headers={"Sidecall-Conversation": "one"})).json()
    for name in os.listdir(tmp_path):
        os.utime(tmp_path / name / "lease", (0, 0))
    shown = (await client.get("/workspaces/ann")).json()
    without = {"name": "remember", "args": {"text": "tea"}, "context": {"conversation_id": "one"}}
    passing = (await client.post("/tool_calls", json=without)).json()

    assert (await client.get(kept["artifact"]["files"][0]["url"])).content == b"tea"
    assert (shown["expires_after"], shown["expires_at"]) == (None, None)
    assert passing["artifact"]["files"][0]["container_id"] == "one"
    call["context"]["memory_id"] = "a/b"
    refused = await client.post("/tool_calls", json=call)
    assert (refused.status_code, "`context.memory_id` must be a text of" in refused.text) == (422, True)


@tool(native="shell", args_schema=ShellCommand)
def run(
    commands: list[str], timeout_ms: int | None, max_output_length: int | None, *, files: Workspace
) -> list[CommandResult]:
    """Let a program write."""
    del timeout_ms, max_output_length
    files.require_room()
    (files.directory / "large").write_bytes(b"1" * int(commands[0]))
    return [CommandResult("done")]


async def test_a_program_that_fills_the_workspace_is_told(make_client: MakeClient, tmp_path: Path) -> None:
    """With its answer, in every form; the next call is refused."""
    client = await make_client(run, workspace_dir=tmp_path, workspace_max_bytes=1024)
    headers = {"Sidecall-Conversation": "one"}
    said = "The workspace may hold 1 kB, and is full. Delete files first."

    async def send(size: int, form: str) -> Any:
        body = {"type": "shell_call", "call_id": "c", "action": {"commands": [str(size)]}}
        return (await client.post(f"/tool_calls?format={form}", json=body, headers=headers)).json()

    assert (await send(1024, "openai"))["content"] == "done"
    (output,) = (await send(1025, "openai-responses"))["output"]
    assert (output["stdout"], output["stderr"]) == ("done", said)
    assert said in (await send(1, "openai"))["content"]
    assert (tmp_path / os.listdir(tmp_path)[0] / "files/large").stat().st_size == 1025
    await client.delete("/workspaces/one")
    assert (await send(1025, "openai"))["content"] == f"done\n{said}"
    await client.delete("/workspaces/one")
    assert (await send(1025, "langchain"))["response_metadata"]["workspace_note"] == said


@pytest.mark.parametrize(
    ("answer", "named"),
    [
        ("See /workspace/my report.txt and /workspace/b.txt.", ["my report.txt", "b.txt"]),
        ("See /workspace/my report (1).txt, too", ["my report (1).txt"]),
        ("/workspace/b.txt is there, my report is not", ["b.txt"]),
        ("`/workspace/b.txt`: it's /workspace/nothing at all", ["b.txt"]),
        ("/workspace/ /workspace/b.txt!", ["b.txt"]),
        ("/workspace/no /workspace/it " * 300 + "/workspace/b.txt", []),
    ],
)
async def test_names_with_blanks_are_found(make_client: MakeClient, answer: str, named: list[str]) -> None:
    """The longest that is there; and nobody makes the server look for ever."""

    @tool
    def say(workspace: Workspace) -> str:
        """Say it."""
        for name in ("my report.txt", "my report (1).txt", "b.txt"):
            workspace.write_bytes(name, b"x")
        return answer

    client = await make_client(say)
    body = {"name": "say", "args": {}, "id": "call_1"}
    message = (await client.post("/tool_calls", json=body, headers={"Sidecall-Conversation": "one"})).json()
    files = (message["artifact"] or {"files": []})["files"]
    assert [it["path"] for it in files] == [f"/workspace/{name}" for name in named]
