"""Everything about one tool is shown under its name."""

import re
from collections.abc import Awaitable, Callable
from typing import Any, Literal

import httpx
import pytest

from app import tool

MakeClient = Callable[..., Awaitable[httpx.AsyncClient]]


@tool(tags=["web", "slow"], metadata={"owner": "search"}, timeout=5, return_direct=True)
async def search(query: str, limit: int = 5) -> list[str]:
    """Search the web.

    Args:
        query: What to look for.
        limit: How many results.
    """
    return [query] * limit


@tool(tags=["math"], unknown_args="forbid")
def convert(value: float, unit: Literal["m", "ft"]) -> dict[str, float]:
    """Convert a length.

    Args:
        value: How long.
        unit: Into which unit.
    """
    return {unit: value}


@tool(tags=["math", "slow"])
async def ask(options: dict[str, Any]) -> str:
    """Ask with free options.

    Args:
        options: Anything.
    """
    return str(options)


@tool
async def ping() -> str:
    """Answer."""
    return "pong"


PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"description": "What to look for.", "type": "string"},
        "limit": {"default": 5, "description": "How many results.", "type": "integer"},
    },
    "required": ["query"],
}
NAMED = {"name": "search", "description": "Search the web."}


async def test_one_tool_is_shown_whole(make_client: MakeClient) -> None:
    """Definition, schemas, options and what the linter says."""
    client = await make_client(search)

    response = await client.get("/tools/search")

    assert response.status_code == 200
    assert response.json() == {
        "name": "search",
        "description": "Search the web.",
        "definition": {"type": "function", "function": {**NAMED, "parameters": PARAMETERS}},
        "args_schema": PARAMETERS,
        "output_schema": {"items": {"type": "string"}, "type": "array"},
        "tags": ["web", "slow"],
        "metadata": {"owner": "search"},
        "annotations": {"read_only": None, "destructive": None, "idempotent": None},
        "extras": {},
        "return_direct": True,
        "response_format": "content",
        "timeout": 5.0,
        "executor": "inline",
        "unknown_args": "ignore",
        "hash": response.json()["hash"],
        "strict": True,
        "strict_obstacles": [],
        "notes": [],
    }
    assert re.fullmatch(r"[0-9a-f]{64}", response.json()["hash"])


async def test_a_tool_shows_why_it_cannot_be_strict(make_client: MakeClient) -> None:
    """The reason is the one that `sidecall check` gives."""
    client = await make_client(ask)

    detail = (await client.get("/tools/ask")).json()

    assert detail["strict"] is False
    assert detail["strict_obstacles"] == ["options: strict mode has no objects with free keys (dict, **kwargs)"]
    assert detail["notes"] == [
        "warning: `options` is an object with free keys, which Gemini refuses; use a model",
        "note: cannot be strict: options: strict mode has no objects with free keys (dict, **kwargs)",
    ]


async def test_a_tool_shows_where_and_how_it_runs(make_client: MakeClient) -> None:
    """A sync tool runs in a thread, with the server's default deadline."""
    client = await make_client(convert)

    detail = (await client.get("/tools/convert")).json()

    assert detail["executor"] == "thread"
    assert detail["timeout"] is None
    assert detail["unknown_args"] == "forbid"


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        (
            "serch",
            "There is no tool 'serch', or it is not visible to you. Did you mean search? GET /tools lists the tools.",
        ),
        ("xyz", "There is no tool 'xyz', or it is not visible to you. GET /tools lists the tools."),
        ("SEARCH", "There is no tool 'SEARCH', or it is not visible to you. GET /tools lists the tools."),
    ],
)
async def test_an_unknown_tool_is_answered_with_the_nearest(make_client: MakeClient, name: str, detail: str) -> None:
    """404 says what may have been meant."""
    client = await make_client(search, ping)

    response = await client.get(f"/tools/{name}")

    assert response.status_code == 404
    assert response.json()["type"] == "urn:sidecall:problem:unknown-tool"
    assert response.json()["detail"] == detail
