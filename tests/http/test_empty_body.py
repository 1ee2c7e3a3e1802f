"""Where a body may be left out, what is declared of it counts only when there is one."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from sidecall import ToolAnnotations, tool
from tests.kit.asgi import BOTH_WAYS
from tests.kit.clients import MakeClient
from tests.kit.problems import read_problem

pytestmark = BOTH_WAYS
DECLARED: list[dict[str, str]] = [
    {},
    {"Content-Type": "application/json"},
    {"Content-Type": "application/octet-stream"},  # aiohttp's
    {"Content-Type": "text/plain; charset=utf-8"},
    {"Content-Type": "application/x-www-form-urlencoded"},
    {"Content-Type": "multipart/form-data; boundary=x"},
    {"Content-Type": "application/json", "Content-Encoding": "gzip"},
]


@tool(annotations=ToolAnnotations(read_only=True))
async def count(limit: int = 5) -> str:
    """Count.

    Args:
        limit: How far.
    """
    return f"up to {limit}"


async def _flow(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


async def _find_paths(client: Any) -> list[str]:
    """List what takes a body that may be missing: a call by plain arguments, and one that is run again."""
    call = {"name": "count", "args": {}, "id": "call_1"}
    sent = await client.post("/tool_calls", json=call, headers={"Prefer": "respond-async, wait=9"})
    (known,) = (await client.get("/tool_calls")).json()
    assert sent.status_code == 200
    return ["/tools/count/call", f"/tool_calls/{known['id']}/replay"]


@pytest.mark.parametrize("headers", DECLARED)
@pytest.mark.parametrize("chunks", [None, (), (b"", b"")], ids=["none", "chunked", "empty chunks"])
async def test_no_bytes_are_no_body(make_client: MakeClient, chunks: Any, headers: dict[str, str]) -> None:
    """No matter what they are declared as, with a length of 0 and in chunks."""
    client = await make_client(count)

    for path in await _find_paths(client):
        content = b"" if chunks is None else _flow(*chunks)
        response = await client.post(path, content=content, headers={**headers, "Prefer": "wait=9"})

        assert response.status_code == 200
        assert response.json() == "up to 5" or response.json()["content"] == "up to 5"


@pytest.mark.parametrize("headers", [it for it in DECLARED if it != {"Content-Type": "application/json"}])
@pytest.mark.parametrize("chunks", [(b"{}",), (b"", b"{", b"}"), (b" ",)])
async def test_bytes_have_to_be_declared(make_client: MakeClient, chunks: Any, headers: dict[str, str]) -> None:
    """Also those that mean nothing."""
    client = await make_client(count)

    for path in await _find_paths(client):
        response = await client.post(path, content=_flow(*chunks), headers=headers)

        assert read_problem(response)[0] == "unsupported-media-type"


async def test_blanks_are_no_arguments(make_client: MakeClient) -> None:
    """Once they are declared as JSON."""
    client = await make_client(count)
    json = {"Content-Type": "application/json"}

    for path in await _find_paths(client):
        assert (await client.post(path, content=b" \n", headers={**json, "Prefer": "wait=9"})).status_code == 200


@pytest.mark.parametrize("path", ["/tool_calls", "/tool_calls/batch", "/approvals/1"])
@pytest.mark.parametrize("headers", DECLARED)
async def test_a_call_has_a_body(make_client: MakeClient, path: str, headers: dict[str, str]) -> None:
    """There is nothing to run without, and the answer says so, not that of no bytes the type is wrong."""
    response = await (await make_client(count)).post(path, headers=headers)

    assert response.status_code == 400
    assert read_problem(response) == ("malformed-json", "The body is empty; send JSON in it.")
