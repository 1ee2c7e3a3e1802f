"""What is noted of a call is what was sent, no matter what its tool makes of that."""

import json
from typing import Any

import pytest

from sidecall import ToolContext, tool
from tests.kit.clients import MakeClient


@tool
async def fill(options: Any, rows: list[Any]) -> str:
    """Change what it is given.

    Args:
        options: What to change.
        rows: What else to change.
    """
    options["added"] = 1
    rows[0].append(2)
    return "filled"


@tool
async def rename(name: str, context: ToolContext) -> str:
    """Change what it is told of its call.

    Args:
        name: What.
        context: Of the call.
    """
    assert isinstance(context.args, dict)
    context.args["name"] = "other"
    return name


async def list_args(make_client: MakeClient, body: dict[str, Any]) -> Any:
    """Call a tool, and return the arguments that the history has of it."""
    client = await make_client(fill, rename, store="memory://")
    assert (await client.post("/tool_calls", json=body)).status_code == 200
    [entry] = (await client.get("/tool_calls")).json()
    return entry["args"]


SENT = {"options": {"size": 1}, "rows": [["a"], {"b": None}]}


@pytest.mark.parametrize(
    "body",
    [
        {"name": "fill", "args": SENT, "id": "1"},
        {"type": "function_call", "name": "fill", "arguments": json.dumps(SENT), "call_id": "1"},
        {"type": "function_call", "name": "fill", "arguments": f"```json\n{json.dumps(SENT)}\n```", "call_id": "1"},
    ],
    ids=["object", "text", "mended text"],
)
async def test_containers_are_kept_as_they_were_sent(make_client: MakeClient, body: dict[str, Any]) -> None:
    """No matter in which form they came."""
    assert await list_args(make_client, body) == {"options": {"size": 1}, "rows": [["a"], {"b": None}]}


async def test_what_a_tool_is_told_of_its_call_is_a_copy(make_client: MakeClient) -> None:
    """It may do with it what it likes."""
    assert await list_args(make_client, {"name": "rename", "args": {"name": "own"}, "id": "1"}) == {"name": "own"}


async def test_a_call_is_repeated_as_it_was_sent(make_client: MakeClient) -> None:
    """And not as its tool has left it."""
    client = await make_client(fill, store="memory://", drain_timeout=0)
    first = (await client.post("/tool_calls", json={"name": "fill", "args": SENT, "id": "1"})).json()["id"]

    again = await client.post(f"/tool_calls/{first}/replay", json={"insist": True}, headers={"Prefer": "wait=10"})

    shown = (await client.get(f"/tool_calls/{again.json()['id']}")).json()
    assert (shown["status"], shown["args"]) == ("succeeded", SENT)
