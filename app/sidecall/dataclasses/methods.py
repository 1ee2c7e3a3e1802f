"""The methods of dataclasses besides `__init__`, the same for each."""

from collections.abc import Callable, Iterable
from dataclasses import FrozenInstanceError, fields
from operator import attrgetter
from reprlib import recursive_repr
from typing import Any, NoReturn

_put = object.__setattr__


def make_comparison(cls: Any) -> tuple[Callable[[Any, Any], Any], Callable[[Any], int]]:
    """Make `__eq__` and `__hash__` of the fields that are compared."""
    # With the class, since there is to be something to get of one without fields, too.
    values = attrgetter("__class__", *(field.name for field in fields(cls) if field.compare))

    def is_equal(one: Any, other: Any) -> Any:
        return values(one) == values(other) if one.__class__ is other.__class__ else NotImplemented

    def hash_of(one: Any) -> int:
        return hash(values(one))

    return is_equal, hash_of


@recursive_repr()
def represent(one: Any) -> str:
    """Write it as the call that would make it."""
    shown = ", ".join(f"{field.name}={getattr(one, field.name)!r}" for field in fields(one) if field.repr)
    return f"{type(one).__qualname__}({shown})"


def refuse_to_set(_: Any, name: str, __: Any) -> NoReturn:
    """Be frozen."""
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def refuse_to_delete(_: Any, name: str) -> NoReturn:
    """Be frozen."""
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def state_of(one: Any) -> list[Any]:
    """Return the state for pickling and copying a frozen instance without a dictionary."""
    return [getattr(one, field.name) for field in fields(one)]


def set_state(one: Any, state: Iterable[Any]) -> None:
    """Take it."""
    for field, value in zip(fields(one), state, strict=True):
        _put(one, field.name, value)
