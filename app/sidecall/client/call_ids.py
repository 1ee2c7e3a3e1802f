"""Ids for calls without unique ones, as from llama.cpp, Ollama and older vLLM."""

import uuid
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any

# Where an answer, or a message alone, has its calls.
_PLACES: Mapping[str, tuple[tuple[str | int, ...], ...]] = {
    "openai": (("choices", 0, "message", "tool_calls"), ("tool_calls",)),
    "openai-responses": (("output",),),
    "anthropic": (("content",),),
}


def make_call_id() -> str:
    """Return a new call id."""
    return f"call_{uuid.uuid4().hex}"


def give_ids(calls: Sequence[dict[str, Any]], name: str) -> dict[str, Any]:
    """Set unique ids under this key in calls without one; return the original values by new id."""
    known: set[Any] = set()
    made: dict[str, Any] = {}
    for call in calls:
        sent = call.get(name)
        if not isinstance(sent, str | int) or sent == "" or sent in known:
            call[name] = call_id = make_call_id()
            made[call_id] = sent
        known.add(call[name])
    return made


def write_ids(response: Any, form: str, said: Sequence[Mapping[str, Any]], name: str, made: Collection[str]) -> None:
    """Write new ids into the answer itself, for programs that append its message instead of the returned one.

    Args:
        response: The answer, an object of an SDK or a dict; what cannot be changed stays as it is.
        form: Whose it is.
        said: The items in which the calls stand, as they were read.
        name: Under which name they have their ids.
        made: Those that were made.
    """
    if not made:
        return
    found = next((items for place in _PLACES[form] if (items := _follow(response, place)) is not None), ())
    for item, read in zip(found, said, strict=False):
        if read.get(name) in made:
            with suppress(Exception):  # A library may refuse it for any reason.
                if isinstance(item, dict):
                    item[name] = read[name]
                else:
                    setattr(item, name, read[name])


def _follow(value: Any, place: tuple[str | int, ...]) -> Any:
    for step in place:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(step, int):
            value = value[step] if isinstance(value, list) and value else None
        else:
            value = getattr(value, step, None)
    return value
