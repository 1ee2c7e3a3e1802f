"""Find classes offered as tools whose calls cannot be answered."""

import dataclasses
import inspect
from typing import Any

from pydantic import PydanticUserError, TypeAdapter

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
        return f"is the class {name}, of which an instance is offered: leave @tool out, and write {instance}"
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
