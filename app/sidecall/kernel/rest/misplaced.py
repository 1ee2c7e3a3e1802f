"""Refuse calls whose arguments are under another dialect's name, and detect split calls."""

from collections.abc import Collection, Mapping
from typing import Any

from sidecall.kernel.core.errors import NotAToolCall, cut_name
from sidecall.kernel.rest.received import DialectName
from sidecall.kernel.suggest.misplaced import differ, find_arguments, find_loose, find_misplaced, is_filled

# In which member a call of each dialect has its function, if it has one for it, and what its arguments are called.
_PLACES: Mapping[DialectName, tuple[str | None, str]] = {
    "langchain": (None, "args"),
    "openai": ("function", "arguments"),
    "openai-responses": (None, "arguments"),
    "anthropic": (None, "input"),
    "gemini": ("functionCall", "args"),
}

# What dialects call the arguments of a call.
_ARGUMENTS = frozenset(name for _, name in _PLACES.values())
# Members that providers and their libraries have inside a call's function, and next to it.
_IN_FUNCTION = frozenset(
    "name id type index args arguments partialArgs partial_args willContinue will_continue description strict"
    " parameters parsed_arguments output thoughtSignature thought_signature provider_specific_fields"
    " extra_content".split()
)
_BESIDE = _IN_FUNCTION | frozenset(
    "input call_id caller namespace async async_ toolset_name text thought functionCall function_call function state"
    " context hash callback_url status role content cache_control extras metadata".split()
)


def refuse_misplaced(body: Mapping[str, Any], dialect: DialectName, example: Any) -> None:
    """Refuse a call whose arguments are under another name than its dialect's, while that one is missing.

    Raises:
        NotAToolCall: It is one; the error names the right place.
    """
    holder, name = _PLACES[dialect]
    if holder is None:
        place, found = name, find_misplaced(body, name)
    else:
        inner = find_function(body) if dialect == "gemini" else _read_member(body, holder)
        if goes_on(inner):
            return
        if is_filled(inner.get(name)):
            _refuse_second(inner, holder, name, example)
            return
        place, within = f"{holder}.{name}", find_misplaced(inner, name)
        found = find_arguments(body) if within is None else f"{holder}.{within}"
    if found is not None:
        text = f"The arguments of a call in the form of {dialect} stand in `{place}`, not in `{found}`."
        raise NotAToolCall(text, example=example)


def _refuse_second(inner: Mapping[str, Any], holder: str, name: str, example: Any) -> None:
    """Refuse a call with different arguments under another dialect's name as well, since it is ambiguous."""
    others = (it for it in sorted(_ARGUMENTS - {name}) if is_filled(inner.get(it)))
    other = next((it for it in others if differ(inner[it], inner[name])), None)
    if other is not None:
        text = f"The arguments stand in `{holder}.{name}` and in `{holder}.{other}`, and differ; send one of them."
        raise NotAToolCall(text, example=example)


def refuse_loose(body: Mapping[str, Any], dialect: DialectName, parameters: Collection[str], example: Any) -> None:
    """Refuse a call without arguments whose members are at the top level: it would run without any.

    Args:
        body: What was sent.
        dialect: In which form.
        parameters: Those of the called tool, if it exists.
        example: A right one.

    Raises:
        NotAToolCall: It has a member that is one of the tool's parameters, or that its form does not have in the place
            of arguments.
    """
    holder, name = _PLACES[dialect]
    place = name if holder is None else f"{holder}.{name}"
    found = find_loose(body, parameters, _BESIDE)
    if holder is not None:
        inner = find_function(body) if dialect == "gemini" else _read_member(body, holder)
        if goes_on(inner):
            return
        loose = [it for it in inner if it not in _IN_FUNCTION and inner[it] is not None]
        within = next((it for it in loose if it in parameters or name not in inner), None)
        found = found if within is None else f"{holder}.{within}"
    if found is not None:
        text = f"The arguments of a call in the form of {dialect} stand in `{place}`, not in `{cut_name(found)}`."
        raise NotAToolCall(text, example=example)


def refuse_typeless(body: Mapping[str, Any], types: Mapping[str, str], example: Any) -> None:
    """Refuse a call without a type whose arguments are where only typed calls have them.

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
    """Return whether a function call of Gemini's is partial, with more chunks to follow."""
    pieces = call.get("partialArgs") or call.get("partial_args")
    said = [call, *(it for it in (pieces if isinstance(pieces, list) else ()) if isinstance(it, dict))]
    return any(it.get("willContinue") is True or it.get("will_continue") is True for it in said)


def find_function(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the function call in a part of Gemini's, in the form of its API or its library."""
    return _read_member(part, "functionCall") or _read_member(part, "function_call")


def _read_member(body: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    inner = body.get(name)
    return inner if isinstance(inner, dict) else {}
