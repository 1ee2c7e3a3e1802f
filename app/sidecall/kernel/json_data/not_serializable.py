"""Error for a result that has no JSON form: names the part, and what to return instead."""

from collections.abc import Iterator
from typing import Any

from sidecall.kernel.core.errors import ToolOutputError
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.json_data.to_json import to_plain

# A large result is not gone through once more for the sake of a name.
_MOST_LOOKS = 1_000
_MOST_SHOWN = 100

_TABLE = ' Return its to_dict("records") or to_markdown() instead.'
_COLUMN = " Return its to_list() instead."
_IMAGE = " Return a ToolOutputImage with a data: URL of it instead, or keep its bytes with context.save_content."


def no_json_form(tool_name: str, value: Any, part: str | None = None) -> ToolOutputError:
    """Build the error for a result that has no JSON form.

    `part` names the part of the answer, such as `artifact`, if there are several.
    """
    path, found = _find(value)
    kind = type(found).__name__
    place = f" at `{format_path(path)[:_MOST_SHOWN]}`" if path else ""
    owner = "" if part is None else f" of the {part}" if path else f" as the {part}"
    said = f"Error: {tool_name} returned a value of type {kind}{place}{owner}, which cannot be said in JSON."
    return ToolOutputError(said + _advise(found))


def _find(value: Any) -> tuple[tuple[str | int, ...], Any]:
    """Return the innermost value without a JSON form, and its path; no path if the search takes too long."""
    path: list[str | int] = []
    inner = value
    left = _MOST_LOOKS
    seen: set[int] = set()
    while id(inner) not in seen:
        seen.add(id(inner))
        for step, item in _list_members(inner):
            left -= 1
            if left < 0:
                return (), value
            if not _has_form(item):
                path.append(step)
                inner = item
                break
        else:
            return tuple(path), inner
    return (), value


def _list_members(value: Any) -> Iterator[tuple[str | int, Any]]:
    if isinstance(value, dict):
        yield from ((str(key), item) for key, item in value.items())
    elif isinstance(value, list | tuple):
        yield from enumerate(value)
    elif hasattr(type(value), "__dataclass_fields__") or hasattr(type(value), "model_fields"):
        yield from getattr(value, "__dict__", {}).items()


def _has_form(value: Any) -> bool:
    try:
        to_plain(value)
    except ValueError:
        return False
    return True


def _advise(value: Any) -> str:
    library = type(value).__module__.partition(".")[0]
    if library == "PIL":
        return _IMAGE
    if library != "pandas":
        return ""
    return _TABLE if hasattr(value, "to_markdown") and hasattr(value, "columns") else _COLUMN
