"""Methods of features are loaded with their first request; where files have run out, the next one may load them."""

from typing import Any

import httpx
import pytest

from sidecall import tool
from sidecall.features.mcp_server import parts
from tests.kit.clients import MakeClient

LIST = {"jsonrpc": "2.0", "id": 1, "method": "resources/list", "params": {}}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-06-18"}


@tool
def double(number: int) -> int:
    """Double a number.

    Args:
        number: Which.
    """
    return 2 * number


def run_out_of_files(name: str) -> Any:
    """Load nothing."""
    raise OSError(24, "Too many open files", name)


async def test_what_could_not_be_loaded_is_loaded_later(
    make_client: MakeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then a client is told to come again."""
    client: httpx.AsyncClient = await make_client(double)
    with monkeypatch.context() as without:
        without.setattr(parts, "load_function", run_out_of_files)
        refused = await client.post("/mcp", json=LIST, headers=HEADERS)

    answer = await client.post("/mcp", json=LIST, headers=HEADERS)

    assert refused.headers["Retry-After"] == "5"
    assert refused.json()["error"]["code"] == 503
    assert answer.json()["result"]["resources"] == []
