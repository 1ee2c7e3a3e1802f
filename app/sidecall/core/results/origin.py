"""Keep with a content block which block of MCP it was made of, so that clients of MCP get that one again."""

from collections.abc import Mapping
from typing import Any

from sidecall.core.messages import ContentBlock

# Where LangChain's blocks keep what they have no word for.
_EXTRAS = "extras"
_ORIGIN = "mcp"


def name_origin(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is added to a content block that was made of a block of MCP."""
    return {_EXTRAS: {_ORIGIN: dict(block)}}


def find_origin(block: str | ContentBlock) -> dict[str, Any] | None:
    """Return the link or the embedded resource that a content block was made of; None where it was none."""
    extras = block.get(_EXTRAS) if isinstance(block, dict) else None
    origin = extras.get(_ORIGIN) if isinstance(extras, dict) else None
    if not isinstance(origin, dict):
        return None
    said = origin if origin.get("type") == "resource_link" else origin.get("resource")
    is_whole = isinstance(said, dict) and isinstance(said.get("uri"), str)
    return origin if is_whole and (said is not origin or isinstance(origin.get("name"), str)) else None
