"""JSON Pointer: resolve references and format locations."""

from collections.abc import Sequence
from typing import Any
from urllib.parse import unquote


def split_reference(reference: str) -> list[str] | None:
    """Split a reference within the document into its steps; None for any other.

    It is a JSON pointer in a URI fragment (RFC 6901, section 6).
    """
    pointer = unquote(reference.removeprefix("#"))
    if not reference.startswith("#") or (pointer and not pointer.startswith("/")):
        return None
    return [step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:]]


def follow(reference: str, root: Any) -> Any:
    """Return the target of a reference within the document, or None."""
    steps = split_reference(reference)
    if steps is None:
        return None
    node = root
    for step in steps:
        node = _get_member(node, step)
    return node


def _get_member(node: Any, step: str) -> Any:
    if isinstance(node, list):
        node = {str(index): item for index, item in enumerate(node)}
    return node.get(step) if isinstance(node, dict) else None


def format_path(loc: Sequence[str | int]) -> str:
    """Format a path as `filters[0].name`; the empty path as `arguments`."""
    text = ""
    for part in loc:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "arguments"
