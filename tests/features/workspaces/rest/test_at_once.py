"""Programs work on one workspace at once, and name it."""

import asyncio
from pathlib import Path

import httpx
import pytest

from tests.kit.clients import MakeClient


@pytest.fixture
async def client(make_client: MakeClient, tmp_path: Path) -> httpx.AsyncClient:
    """Serve workspaces."""
    return await make_client(workspace_dir=tmp_path / "workspaces")


async def send(client: httpx.AsyncClient, path: str, to: str = "one") -> httpx.Response:
    """Send a file as a form."""
    return await client.post(f"/workspaces/{to}/files", files={"file": (path, b"a,b")})


async def test_files_are_sent_at_once(client: httpx.AsyncClient) -> None:
    """All are there as a user's, those of one name once, also where the workspace is removed meanwhile."""
    removed = [client.delete("/workspaces/one") for _ in range(6)]
    answers = await asyncio.gather(*(send(client, f"{number % 8}") for number in range(16)), *removed)
    assert {it.status_code for it in answers[:16]} == {200}
    assert {it.status_code for it in answers[16:]} <= {204, 404}
    assert {it.json()["source"] for it in answers[:16]} == {"user"}

    await client.delete("/workspaces/one")
    await asyncio.gather(*(send(client, f"{number % 8}") for number in range(16)))
    listing = (await client.get("/workspaces/one/files")).json()["data"]
    assert [(it["path"], it["source"]) for it in listing] == [(f"/workspace/{name}", "user") for name in range(8)]


@pytest.mark.parametrize("name", ["%2e%2e", "%2E", "%20", "%00", "%ff", "a%C3", "%E2%80%AE"])
@pytest.mark.parametrize("path", ["", "/files", "/files/cfile_YQ"])
async def test_what_no_conversation_is_called_is_refused(client: httpx.AsyncClient, name: str, path: str) -> None:
    """With what names are."""
    answer = await client.get(f"/workspaces/{name}{path}")

    said = answer.json()
    assert (answer.status_code, said["type"]) == (404, "urn:sidecall:problem:unknown-workspace")
    assert said["detail"].startswith("No conversation is called so: its name has 1 to 256 printable characters")


async def test_a_name_in_utf_8_is_one(client: httpx.AsyncClient) -> None:
    """Also with the character that stands for what cannot be read."""
    assert (await send(client, "a", to="%EF%BF%BD%C3%A4")).status_code == 200
