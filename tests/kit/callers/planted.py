"""One of everything that a caller can have on a server; each contains the same marker word."""

from itertools import count
from typing import Any

import httpx

from sidecall import tool
from tests.kit.calls import write_call

CANARY = "canary"


@tool(annotations={"read_only": True})
async def look(word: str) -> str:
    """Look a word up."""
    return f"{word} is a word"


@tool(requires_approval=True)
async def delete_order(order: str) -> str:
    """Delete an order."""
    return f"deleted {order}"


@tool(requires_approval=True)
async def refund(order: str) -> str:
    """Pay an order back."""
    return f"refunded {order}"


TOOLS = (look, delete_order, refund)
ALWAYS = {"decision": "approve", "always": True}
_numbers = count(1)


async def plant(client: httpx.AsyncClient, headers: dict[str, str]) -> dict[str, str]:
    """Give a caller one of everything, and return the names."""
    order = f"{CANARY}-{next(_numbers)}"

    async def send(name: str, **more: Any) -> httpx.Response:
        args = {"word": CANARY} if name == "look" else {"order": order}
        return await client.post("/tool_calls", json=write_call(name, **args), headers={**headers, **more})

    called = await send("look", **{"Idempotency-Key": CANARY})
    waiting = await send("delete_order")
    held = await send("delete_order", Prefer="respond-async")
    assert held.headers["Location"].startswith("/tool_calls/")
    refunded = await send("refund")
    if refunded.status_code == 202:
        await client.post(refunded.headers["Location"], json=ALWAYS, headers=headers)
    [rule] = (await client.get("/approvals/rules", headers=headers)).json()
    content = await client.post("/contents", content=CANARY.encode(), headers=headers)
    await client.put("/secrets/CANARY_KEY", json={"value": CANARY}, headers=headers)
    return {
        "tool": "look",
        "call": called.json()["id"],
        "held": held.headers["Location"].rpartition("/")[2],
        "content": content.json()["id"],
        "approval": waiting.json()["id"],
        "rule": rule["id"],
        "secret": "CANARY_KEY",
        "new": "NEW_KEY",
        **await _send_file(client, order, headers),
        **await _fill_store(client, headers),
        "provider": "hub",  # There is no sign-in.
        "server": "hub",  # Nor an MCP server.
    }


async def _fill_store(client: httpx.AsyncClient, headers: dict[str, str]) -> dict[str, str]:
    """Send a file to be searched, where the server takes some."""
    files = {"file": (CANARY, CANARY.encode())}
    sent = await client.post("/files", data={"purpose": "user_data"}, files=files, headers=headers)
    upload = sent.json().get("id", "none")
    wanted = {"name": CANARY, "file_ids": [upload]}
    store = await client.post("/vector_stores", json=wanted, headers=headers)
    return {"upload": upload, "store": store.json().get("id", "none")}


async def _send_file(client: httpx.AsyncClient, conversation: str, headers: dict[str, str]) -> dict[str, str]:
    files = {"file": (CANARY, CANARY.encode())}
    sent = await client.post(f"/workspaces/{conversation}/files", files=files, headers=headers)
    return {"workspace": conversation, "file": sent.json()["id"]}
