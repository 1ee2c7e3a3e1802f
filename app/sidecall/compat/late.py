"""Fields of a tool that are computed on first access."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from pydantic import BaseModel

from sidecall.compat.runnable import NOT_ON_TOOLS
from sidecall.kernel.authoring.options import OptionFields
from sidecall.kernel.core.counterparts import find_from_counterpart

T = TypeVar("T", bound=OptionFields)


def fill_late(**makers: Callable[[Any], Any]) -> Callable[[type[T]], type[T]]:
    """Decorate a class so that these functions compute the fields of their names that an author leaves out.

    Such a field is removed from new objects with `forget`, and Python calls `__getattr__` for it. The computed value is
    stored separately, so that it does not count as the author's; None is computed again.
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
    """Return an attribute that is no field: a private one, or LangChain's, if LangChain is loaded."""
    try:
        return find(it, name)
    except AttributeError:
        with suppress(AttributeError):
            return find_from_counterpart(it, name)
        if name in NOT_ON_TOOLS:
            raise AttributeError(f"{type(it).__name__} has no {name} here: {NOT_ON_TOOLS[name]}.") from None
        raise


def forget(it: OptionFields, **empty: Any) -> None:
    """Remove fields that only hold their empty default.

    An empty text that was given counts as a value, None does not.
    """
    values = vars(it)
    for name, nothing in empty.items():
        if values.get(name, ...) == nothing and (nothing is None or name not in it.model_fields_set):
            del values[name]


def forget_made(it: OptionFields) -> None:
    """Drop the computed fields, since the fields they depend on have changed."""
    for name in [name for name in vars(it) if name == "compiled" or name.startswith("_late_")]:
        del vars(it)[name]
