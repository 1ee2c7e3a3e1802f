"""Find the mistakes in an author's JSON Schema, and their places."""

import json
from collections.abc import Mapping
from typing import Any

from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.schema.signature import unwrap

_TYPES = "array, boolean, integer, null, number, object, string"
_WHOLE = '{"type": "object", "properties": {...}}'
_AROUND = f"perhaps {_WHOLE} was forgotten around what it has"
# What of a value stands in a message.
_MOST_SHOWN = 60
# Keywords of an object's schema that make it one without `properties`.
_SHAPES = frozenset(("type", "properties", "patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if"))
# With these keywords, names may be declared outside of `properties`.
_ELSEWHERE = frozenset(("patternProperties", "$ref", "allOf", "anyOf", "oneOf", "if", "dependentSchemas"))


def locate_fault(error: Exception) -> str:
    """Describe why a schema is invalid, with a place such as `properties.a.type`."""
    # What refers to nothing has no place of its own.
    path = getattr(error, "instance_path", None)
    reason = str(error).partition("\n")[0]
    if not path:
        return reason
    value = _show(getattr(error, "instance", None))
    if path[-1] == "type":
        return f"`{format_path(path)}` is {value}, and has to be one of {_TYPES}, or a list of them"
    # The validator writes a mask in the place of the value.
    return f"`{format_path(path)}` is {value}: {reason}"


def find_mismatch(
    given: Schema, properties: Mapping[str, Any], takes: frozenset[str] | None, needs: frozenset[str]
) -> str | None:
    """Return why no call can satisfy this schema, or None.

    Args:
        given: The schema as the author wrote it.
        properties: Those that it has.
        takes: The function's parameters; None when it has `**kwargs`.
        needs: Those of them that have no default.
    """
    if takes is None:
        return None
    surplus = sorted(properties.keys() - takes)
    if surplus:
        return f"the function does not take {', '.join(surplus)}"
    if given.keys() & _ELSEWHERE:
        return None
    bare = sorted(name for name in takes & given.keys() if isinstance(given[name], dict))
    if bare and not given.keys() & _SHAPES:
        return f"it has no properties, but {_list_names(bare)} beside its keywords; {_AROUND}"
    missing = sorted(needs - properties.keys())
    if not missing:
        return None
    hint = "" if "properties" in given else f"; {_AROUND}"
    return f"the function requires {_list_names(missing)}, which is no property of it{hint}"


def describe_whole() -> str:
    """Return the description of a valid arguments schema."""
    return f"it has to describe an object, as in {_WHOLE}"


def _list_names(names: list[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def _show(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def advise_on_name(function: Any, name: str | None) -> str:
    """Return advice on an unresolvable name in an annotation.

    Text annotations, as with `from __future__ import annotations`, are resolved in the module, which lacks names local
    to functions or classes.
    """
    name = name or "it"
    scope = str(getattr(unwrap(function), "__qualname__", "")).rpartition(".")[0]
    if "<locals>" in scope:
        return (
            f"Write {name} at the top level of the module, or import it there: the annotation is a text (quoted, or by"
            " `from __future__ import annotations`), in which what is local to a function is not found."
        )
    if scope:
        return f"Import it at the top of the module; if it stands in the class, write {scope}.{name}."
    return "Import it at the top of the module."
