"""The way in by MCP is loaded with its first request; where files have run out, the next one may load it."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from sidecall.features.mcp_server import late
from tests.kit.clients import MakeClient

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@tool
def double(number: int) -> int:
    """Double a number.

    Args:
        number: Which.
    """
    return 2 * number


class _WithoutFiles:
    def __getattr__(self, name: str) -> Any:
        raise OSError(24, "Too many open files")


async def test_what_could_not_be_loaded_is_loaded_later(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then a client is told to come again."""
    client: httpx.AsyncClient = await make_client(double)
    with monkeypatch.context() as without:
        without.setattr(late, "_endpoint", _WithoutFiles())
        refused = await client.post("/mcp", json=LIST, headers=HEADERS)

    answer = await client.post("/mcp", json=LIST, headers=HEADERS)

    assert refused.headers["Retry-After"] == "5"
    assert (refused.status_code, refused.json()["type"]) == (503, "urn:sidecall:problem:part-unavailable")
    assert [it["name"] for it in answer.json()["result"]["tools"]] == ["double"]
