"""Fields of a tool that are worked out when somebody first asks for them."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import BaseModel

from sidecall.compat.runnable import NOT_ON_TOOLS
from sidecall.kernel.authoring.options import OptionFields
from sidecall.kernel.core.counterparts import find_from_counterpart

T = TypeVar("T", bound=OptionFields)


def fill_late(**makers: Callable[[Any], Any]) -> Callable[[type[T]], type[T]]:
    """Let each of these functions make the value of a field of its name that the author has left out.

    Such a field is taken out of a new object with `forget`; Python asks `__getattr__` for what an object lacks. What is
    made is kept apart, so that it is not taken for what the author has said; None is made anew.
    """

    def decorate(kind: type[T]) -> type[T]:
        find: Callable[[Any, str], Any] = vars(BaseModel)["__getattr__"]

        def get(it: Any, name: str) -> Any:
            if name not in makers:
                return _find(it, name, find)
            kept = vars(it).get(f"_late_{name}")
            if kept is None:
                kept = vars(it)[f"_late_{name}"] = makers[name](it)
            return kept

        # Not in the body of the class: type checkers would then take any attribute for one that it has.
        type.__setattr__(kind, "__getattr__", get)
        return kind

    return decorate


def _find(it: Any, name: str, find: Callable[[Any, str], Any]) -> Any:
    """Find what is no field: a private attribute, or what LangChain's tools have, where LangChain is loaded."""
    try:
        return find(it, name)
    except AttributeError:
        with suppress(AttributeError):
            return find_from_counterpart(it, name)
        if name in NOT_ON_TOOLS:
            raise AttributeError(f"{type(it).__name__} has no {name} here: {NOT_ON_TOOLS[name]}.") from None
        raise


def forget(it: OptionFields, **empty: Any) -> None:
    """Take fields out of an object that hold only what stands for nothing.

    An empty text that was given says something, None never does.
    """
    values = vars(it)
    for name, nothing in empty.items():
        if values.get(name, ...) == nothing and (nothing is None or name not in it.model_fields_set):
            del values[name]


def forget_made(it: OptionFields) -> None:
    """Take out what was made of an object's fields, since they have changed."""
    for name in [name for name in vars(it) if name == "compiled" or name.startswith("_late_")]:
        del vars(it)[name]
