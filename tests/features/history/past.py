"""Tools whose plain calls are asked for afterwards."""

from typing import Annotated, Any

import httpx

from sidecall import Secret, ToolException, tool


@tool(tags=["speech"])
async def say(text: str, api_key: str = "") -> str:
    """Say something.

    Args:
        text: What.
        api_key: Of the one who speaks.
    """
    if text == "bad":
        raise ToolException("not a nice word")
    return f"said {text}"


@tool
async def add(a: int, b: int) -> int:
    """Add two numbers.

    Args:
        a: One.
        b: Another.
    """
    return a + b


@tool
async def leak(key: Annotated[str, Secret("PAST_SECRET")]) -> str:
    """Tell a secret, as no tool should."""
    return f"the key is {key}"


@tool
async def pay(fields: dict[str, Any], key: Annotated[str, Secret("PAST_SECRET")]) -> str:
    """Take a secret, and tell nothing of it.

    Args:
        fields: What is paid.
    """
    return f"paid with {len(key)}"


@tool
async def list_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return what was sent.

    Args:
        fields: What to return.
    """
    return fields


async def call(client: httpx.AsyncClient, name: str, **args: Any) -> str:
    """Call a tool, and return the id of the invocation."""
    answer = await client.post("/tool_calls", json={"name": name, "args": args, "id": "call_1"})
    assert answer.status_code == 200
    return str(answer.json()["id"])


async def list_ids(client: httpx.AsyncClient, query: str = "") -> list[str]:
    """List the ids of all calls that a query finds, page by page."""
    found: list[str] = []
    place = f"/tool_calls?{query}"
    while place:
        answer = await client.get(place)
        assert answer.status_code == 200
        found += [entry["id"] for entry in answer.json()]
        link = answer.headers.get("Link")
        place = "" if link is None else link[1 : link.index(">")]
    return found
