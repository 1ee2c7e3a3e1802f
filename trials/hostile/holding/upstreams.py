"""What another server answers whose tools are offered here, at its bounds and beyond them."""

import time

import httpx

from tests.features.mcp_client.entries import describe_kit, write_servers
from trials.hostile.holding.case import Ask, Case, Client, send, send_batch

#: Settings that offer the tools of the other server.
SETTINGS = {"SIDECALL_MCP_SERVERS": write_servers(kit=describe_kit())}


_FLOOD = "kit__flood"
_LOOK = 0.1


def _flood(**sent: int) -> dict[str, object]:
    return {"name": _FLOOD, "args": sent, "id": "call_1"}


def _offered(ask: Ask) -> Ask:
    """Wait until the other server is connected to, and then do something."""

    def wait_and_ask(client: Client) -> httpx.Response:
        while _FLOOD not in client.get("/tools").text:
            time.sleep(_LOOK)
        return ask(client)

    return wait_and_ask


CASES = [
    Case("values from an MCP server", "99,000", _offered(send(_flood(values=99_000)))),
    Case("more values, which are refused", "2,000,000", send(_flood(values=2_000_000))),
    Case("blocks from an MCP server", "2,000", send(_flood(blocks=2_000))),
    Case("more blocks, which are refused", "30,000", send(_flood(blocks=30_000))),
    Case("a text from an MCP server", "16 MB", send(_flood(length=16_000_000))),
    Case("the same in a batch", "128 of 2,000 blocks", send_batch([_flood(blocks=2_000)] * 128)),
]
