"""Find mistakes of authors: in JSON Schemas, in classes offered as tools, in defaults that differ at each start."""

import dataclasses
import inspect
import json
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from typing import Any
from uuid import UUID

from pydantic import PydanticUserError, TypeAdapter

from sidecall.compiler.signature import unwrap
from sidecall.kernel.core.tool import Schema
from sidecall.kernel.json_data.pointer import format_path
from sidecall.kernel.schema.references import walk

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


# What says itself in JSON without a schema; of the others a class of its own has to.
_SAID = (str, int, float, bytes, bytearray, dict, list, tuple, set, frozenset, BaseException)
# What an object is read by that is a series, or awaited.
_READ = ("__iter__", "__aiter__", "__next__", "__anext__", "__await__")


def find_class_fault(kind: Any) -> str | None:
    """Return why a class cannot serve as a function; None if its instances are results, or it is no class."""
    if not inspect.isclass(kind):
        return None
    name = kind.__name__
    if any(hasattr(kind, method) for method in ("_run", "_arun", "get_tools")):
        instance = f"{name.lower()} = {name}()"
        return f"is the class {name}; offer an instance of it: leave @tool out, and write {instance}"
    if _makes_something_else(kind) or _can_be_said(kind):
        return None
    return (
        f"is the class {name}: each call would make an object of it, which JSON cannot say. Offer an instance that has"
        f" `__call__`, tool({name}(...)), or write a subclass of BaseTool with `_run`"
    )


def _makes_something_else(kind: Any) -> bool:
    """Return whether calling the class may return another type."""
    return kind.__new__ is not object.__new__ or type(kind).__call__ is not type.__call__


def _can_be_said(kind: Any) -> bool:
    if dataclasses.is_dataclass(kind) or hasattr(kind, "parse_obj") or kind.__str__ is not object.__str__:
        return True
    if issubclass(kind, _SAID) or any(hasattr(kind, method) for method in _READ):
        return True
    try:
        TypeAdapter(kind)
    except PydanticUserError:
        return False
    return True


# What a module has just made of the clock is no older.
_SECONDS = 60
# Of UUIDs those that are made of the clock or at random.
_MADE_ANEW = (1, 4, 6, 7)
_UUID = 36
_DATE = 10


def find_changing_defaults(schema: Schema) -> Iterator[str]:
    """Find defaults that look as if they were made at import time, from the clock or at random."""
    for path, node in walk(schema):
        default = node.get("default")
        if path and _looks_made_anew(default):
            yield (
                f"`{path}` has the default {default}, which seems to be made at each start: the tool's hash then"
                " changes, which `sidecall check --lock` takes for a change; let it be None,"
                " and make the value in the function"
            )


def _looks_made_anew(default: Any) -> bool:
    if isinstance(default, float):
        return abs(default - datetime.now(UTC).timestamp()) <= _SECONDS
    if not isinstance(default, str):
        return False
    try:
        if len(default) == _UUID and default.count("-") == 4:
            return UUID(default).version in _MADE_ANEW
        return date.fromisoformat(default) in _list_days() if len(default) == _DATE else _is_now(default)
    except ValueError:
        return False


def _list_days() -> tuple[date, date]:
    """List today's date, local and in UTC."""
    return datetime.now().astimezone().date(), datetime.now(UTC).date()


def _is_now(text: str) -> bool:
    moment = datetime.fromisoformat(text)
    # One without a zone is of the clock on the wall, or of UTC.
    moments = [moment] if moment.tzinfo else [moment.astimezone(), moment.replace(tzinfo=UTC)]
    return any(abs((datetime.now(UTC) - it).total_seconds()) <= _SECONDS for it in moments)
