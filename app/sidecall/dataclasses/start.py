"""Compile the `__init__` of a dataclass."""

from dataclasses import MISSING, Field, fields
from operator import attrgetter
from typing import Any

_put = object.__setattr__


def write_init(cls: Any, slots: bool, frozen: bool) -> Any:
    """Write the method that takes the fields, and puts them where they belong."""
    taken, steps, known = ["self"], [], {"__name__": cls.__module__, "__put": _put, "__absent": MISSING}
    asked = sorted(fields(cls), key=attrgetter("kw_only"))
    for field in asked:
        if field.kw_only and field.init and "*" not in taken:
            taken.append("*")
        value = _take(field, slots, taken, known)
        if value:
            name = field.name
            steps.append(f"__put(self, {name!r}, {value})" if frozen else f"self.{name} = {value}")
    if hasattr(cls, "__post_init__"):
        steps.append("self.__post_init__()")
    exec(f"def __init__({', '.join(taken)}):\n " + "\n ".join(steps or ["pass"]), known)  # noqa: S102  our own text
    init = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {**{field.name: field.type for field in asked if field.init}, "return": None}
    return init


def _take(field: Field[Any], slots: bool, taken: list[str], known: dict[str, Any]) -> str:
    """Add a field to the parameters, and return the expression for its value, if it has one."""
    name, given, made = field.name, f"__default_{field.name}", f"__make_{field.name}"
    has_default, is_made = field.default is not MISSING, field.default_factory is not MISSING
    if is_made:
        known[made] = field.default_factory
    elif has_default:
        known[given] = field.default
    if not field.init:
        return f"{made}()" if is_made else given if slots and has_default else ""
    if is_made:
        taken.append(f"{name}=__absent")
        return f"{made}() if {name} is __absent else {name}"
    taken.append(f"{name}={given}" if has_default else name)
    return name
