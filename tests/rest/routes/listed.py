"""Tools to be listed and shown: tagged, sync and async, with a strict form and without."""

from typing import Any, Literal

from sidecall import tool


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


PARAMETERS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "query": {"description": "What to look for.", "type": "string"},
        "limit": {"default": 5, "description": "How many results.", "type": "integer"},
    },
    "required": ["query"],
}
NAMED = {"name": "search", "description": "Search the web."}
