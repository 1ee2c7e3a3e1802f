"""Refuse calls whose arguments stand where another dialect has them, and find out which are pieces of one."""

from collections.abc import Mapping
from typing import Any

from sidecall.core.errors import NotAToolCall
from sidecall.core.mistakes.misplaced import find_arguments, find_misplaced, is_filled
from sidecall.rest.native.received import DialectName

# In which member a call of each dialect has its function, if it has one for it, and what its arguments are called.
_PLACES: Mapping[DialectName, tuple[str | None, str]] = {
    "langchain": (None, "args"),
    "openai": ("function", "arguments"),
    "openai-responses": (None, "arguments"),
    "anthropic": (None, "input"),
    "gemini": ("functionCall", "args"),
}


def refuse_misplaced(body: Mapping[str, Any], dialect: DialectName, example: Any) -> None:
    """Refuse a call whose arguments stand under another name than its dialect has for them, and not under that.

    Raises:
        NotAToolCall: It is one; the error names the right place.
    """
    holder, name = _PLACES[dialect]
    if holder is None:
        place, found = name, find_misplaced(body, name)
    else:
        inner = find_function(body) if dialect == "gemini" else _read_member(body, holder)
        if is_filled(inner.get(name)) or goes_on(inner):
            return
        place, within = f"{holder}.{name}", find_misplaced(inner, name)
        found = find_arguments(body) if within is None else f"{holder}.{within}"
    if found is not None:
        text = f"The arguments of a call in the form of {dialect} stand in `{place}`, not in `{found}`."
        raise NotAToolCall(text, example=example)


def refuse_typeless(body: Mapping[str, Any], types: Mapping[str, str], example: Any) -> None:
    """Refuse a call that does not say of which type it is, and has its arguments where only calls of a type have them.

    Args:
        body: What was sent.
        types: The type of a call, by what its arguments are called.
        example: A right one.

    Raises:
        NotAToolCall: It is one; the error names the right place.
    """
    found = find_misplaced(body, "args")
    if body.get("type") is not None or "name" not in body or found is None:
        return
    typed = f' With `{found}` its `type` is "{types[found]}".' if found in types else ""
    raise NotAToolCall(
        f"The arguments of a call without a `type` stand in `args`, not in `{found}`.{typed}", example=example
    )


def goes_on(call: Mapping[str, Any]) -> bool:
    """Return whether a function call of Gemini's is a piece of one, behind which others come."""
    pieces = call.get("partialArgs") or call.get("partial_args")
    said = [call, *(it for it in (pieces if isinstance(pieces, list) else ()) if isinstance(it, dict))]
    return any(it.get("willContinue") is True or it.get("will_continue") is True for it in said)


def find_function(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the function call in a part of Gemini's, as its API or as its library writes it."""
    return _read_member(part, "functionCall") or _read_member(part, "function_call")


def _read_member(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = body.get(name)
    return inner if isinstance(inner, dict) else {}
