"""The rules of Gemini's API for schemas, which its types do not check: each was a 400."""

from collections.abc import Iterator
from typing import Any

_ALWAYS = {"title", "description", "nullable", "default"}
_OF_TYPES: dict[str, set[str]] = {
    "string": {"format", "enum", "minLength", "maxLength", "pattern"},
    "integer": {"format", "minimum", "maximum"},
    "number": {"format", "minimum", "maximum"},
    "boolean": set(),
    "array": {"items", "minItems", "maxItems"},
    "object": {"properties", "required"},
}
_FORMATS = {"string": {"date-time"}, "integer": {"int32", "int64"}, "number": {"float", "double"}}
_PYTHON: dict[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": (int, float),
    "number": (int, float),
    "boolean": bool,
    "array": list,
    "object": dict,
}


def find_offences(node: Any, path: str = "#") -> Iterator[str]:
    """Name what the API would refuse, at every depth."""
    if not isinstance(node, dict):
        yield f"{path}: no schema"
        return
    options = node.get("anyOf", [node])
    allowed = {"anyOf"} if "anyOf" in node else {"type"} | _OF_TYPES.get(str(node.get("type")), set())
    if not node.keys() <= _ALWAYS | allowed or node.keys().isdisjoint(("type", "anyOf")):
        yield f"{path}: keywords {sorted(node)}"
    elif "anyOf" not in node and node["type"] not in _OF_TYPES:
        yield f"{path}: type {node['type']}"
    if "anyOf" in node and (len(options) < 2 or any("nullable" in it or "anyOf" in it for it in options)):
        yield f"{path}: anyOf"
    if "default" in node and not any(_fits(node["default"], option) for option in options):
        yield f"{path}: default {node['default']!r}"
    yield from (f"{path}: {text}" for text in _find_own(node))
    for step, child in _list_children(node):
        yield from find_offences(child, f"{path}/{step}")


def _find_own(node: dict[str, Any]) -> Iterator[str]:
    texts = node.get("enum", ["a"])
    if not texts or len(set(texts)) < len(texts) or not all(isinstance(it, str) and it for it in texts):
        yield f"enum {texts}"
    if "format" in node and node["format"] not in _FORMATS.get(node["type"], ()):
        yield f"format {node['format']}"
    if not set(node.get("required", ())) <= node.get("properties", {}).keys():
        yield f"required {node['required']}"
    if node.get("properties") == {} or not all(isinstance(node.get(it, ""), str) for it in ("title", "description")):
        yield "no properties, or what describes is no text"


def _fits(value: Any, option: dict[str, Any]) -> bool:
    if isinstance(value, bool):
        return option.get("type") == "boolean"
    return isinstance(value, _PYTHON.get(str(option.get("type")), ())) and value in option.get("enum", [value])


def _list_children(node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    yield from node.get("properties", {}).items()
    yield from ((f"anyOf/{index}", option) for index, option in enumerate(node.get("anyOf", ())))
    if node.get("type") == "array":
        yield "items", node.get("items")
