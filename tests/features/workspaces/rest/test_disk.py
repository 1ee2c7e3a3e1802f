"""Tools that need files are told where the disk takes none."""

import errno
import os
from pathlib import Path
from typing import Any

import httpx
import pytest

from sidecall import Workspace, tool
from tests.kit.clients import MakeClient

NO_ROOM = "There is no space left on the server's disk. Delete files that are not needed, or try again later."
UNWRITABLE = "The server cannot write its folder for files. Its operator has to change that; go on without files."


@tool
def write(path: str, workspace: Workspace) -> None:
    """Write a file."""
    workspace.write_bytes(path, b"1")


@pytest.mark.parametrize(
    ("number", "said", "retryable", "problem"),
    [
        (errno.ENOSPC, NO_ROOM, True, (429, "too-many-files")),
        (errno.EROFS, UNWRITABLE, False, (503, "store-unavailable")),
    ],
)
async def test_a_disk_that_takes_no_files_is_said(
    make_client: MakeClient,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    tmp_path: Path,
    number: int,
    said: str,
    retryable: bool,
    problem: tuple[int, str],
) -> None:
    """To models, programs and operators, once in the log; the system is played, since root may write anywhere."""

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(number, os.strerror(number))

    client = await make_client(write, workspace_dir=tmp_path / "workspaces")
    call = {"name": "write", "args": {"path": "a"}, "id": "1"}
    with monkeypatch.context() as patched:
        patched.setattr(Path, "mkdir", refuse)
        errors = [(await client.post("/tool_calls", json=call)).json() for _ in range(2)]
        sent = await _send(client)
        told = (await client.get("/readyz")).json()
    await _send(client)

    assert [(it["content"], it["response_metadata"]["error"]["retryable"]) for it in errors] == [(said, retryable)] * 2
    assert (sent.status_code, sent.json()["type"].rpartition(":")[2], sent.json()["detail"]) == (*problem, said)
    trouble = f"{tmp_path}/workspaces cannot be written: {os.strerror(number)}."
    assert told["workspaces"] == trouble
    assert [it.getMessage() for it in caplog.records if it.name == "sidecall"] == [
        f"files of conversations: {trouble} Make room there, or see to SIDECALL_WORKSPACE_DIR",
        "files of conversations can be written again",
    ]
    assert "workspaces" not in (await client.get("/readyz")).json()


async def _send(client: httpx.AsyncClient) -> httpx.Response:
    return await client.post("/workspaces/one/files", files={"file": ("in.csv", b"a,b")})
