"""Keep with a content block the MCP block it was made from, so that MCP clients get the original."""

from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.messages import ContentBlock

# Where LangChain's blocks keep what they have no word for.
_EXTRAS = "extras"
_ORIGIN = "mcp"
# What any block of MCP may have.
_BESIDE = ("annotations", "_meta")


def name_origin(block: Mapping[str, Any]) -> dict[str, Any]:
    """Return the key that marks a content block as made from this MCP block."""
    return {_EXTRAS: {_ORIGIN: dict(block)}}


def find_origin(block: str | ContentBlock) -> dict[str, Any] | None:
    """Return the link or embedded resource that a content block was made from, or None."""
    origin = _find(block)
    if origin is None:
        return None
    said = origin if origin.get("type") == "resource_link" else origin.get("resource")
    is_whole = isinstance(said, dict) and isinstance(said.get("uri"), str)
    return origin if is_whole and (said is not origin or isinstance(origin.get("name"), str)) else None


def find_beside(block: str | ContentBlock) -> dict[str, Any]:
    """Return the annotations and `_meta` of the MCP block that a content block was made from."""
    origin = _find(block) or {}
    return {key: origin[key] for key in _BESIDE if isinstance(origin.get(key), dict)}


def _find(block: str | ContentBlock) -> dict[str, Any] | None:
    extras = block.get(_EXTRAS) if isinstance(block, dict) else None
    origin = extras.get(_ORIGIN) if isinstance(extras, dict) else None
    return origin if isinstance(origin, dict) else None
