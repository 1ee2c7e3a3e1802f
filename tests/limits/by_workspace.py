"""Go beyond bounds with files of conversations, as `by_request` does with calls."""

import os
import time
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from sidecall import Workspace, tool
from sidecall.loading.discovery import discover
from sidecall.loading.toolkits import find_files
from tests.kit.clients import MakeClient
from tests.limits.by_request import Provoke, call, post, say


@tool
async def count(workspace: Workspace) -> int:
    """Count the files."""
    return len(workspace.list_entries())


async def _send(client: httpx.AsyncClient, name: str, body: bytes, to: str = "one") -> httpx.Response:
    return await client.post(f"/workspaces/{to}/files", files={"file": (name, body)})


async def _send_two(make_client: MakeClient, size: int = 900, **settings: Any) -> str:
    client = await make_client(**settings)
    return say([await _send(client, name, b"x" * size) for name in ("a", "b")][-1])


async def _open_two(make_client: MakeClient) -> str:
    client = await make_client(max_workspaces=1)
    return say([await _send(client, "a", b"x", to=name) for name in ("one", "two")][-1])


async def _name(make_client: MakeClient) -> str:
    client = await make_client(count)
    return say(await post(client, call("count"), **{"Sidecall-Conversation": "x" * 257}))


async def _send_header(make_client: MakeClient) -> str:
    client = await make_client()
    headers = {"Content-Type": f"multipart/form-data; boundary={'x' * 1000}"}
    return say(await client.post("/workspaces/one/files", content=b"--x--", headers=headers))


async def _repeat(make_client: MakeClient) -> str:
    client = await make_client(*discover(find_files(["files"])))
    return say(await post(client, call("grep", pattern="(?:a{1,50}){1,50}")))


async def _grow_old(make_client: MakeClient, created: float, **settings: float) -> str:
    with TemporaryDirectory() as folder:
        client = await make_client(workspace_dir=folder, **settings)
        await _send(client, "a", b"x")
        _backdate(Path(folder), created)
        return say(await client.get("/workspaces/one"))


def _backdate(folder: Path, created: float) -> None:
    [lease] = folder.glob("*/lease")
    lease.write_text(f'{{"created": {time.time() - created}}}')
    if not created:
        os.utime(lease, (time.time() - 5,) * 2)


BY_WORKSPACE: dict[str, Provoke] = {
    "characters of a form's `Content-Type`": _send_header,
    "bytes of the files of a conversation": partial(_send_two, workspace_max_bytes=1024),
    "bytes of one of them": partial(_send_two, size=1025, workspace_max_file_bytes=1024),
    "files and folders of a conversation": partial(_send_two, workspace_max_entries=1),
    "conversations with files, and calls with files of their own": _open_two,
    "seconds without use that the files of a conversation are kept": partial(
        _grow_old, created=0, workspace_idle_ttl=1.0
    ),
    "seconds that they are kept in any case": partial(_grow_old, created=5, workspace_ttl=1.0),
    "characters of a conversation's name": _name,
    "characters that counted repetitions, and classes of Unicode, add to a pattern of the tool `grep`": _repeat,
}
