"""Recognize the methods of classes, and bind them."""

import dis
import inspect
from collections.abc import Callable
from types import MethodType
from typing import Any


def is_written_in(function: Any, owner: type) -> bool:
    """Return whether a function is defined in the body of this class, not only assigned there."""
    return (getattr(function, "__module__", None), _find_scope(function)) == (owner.__module__, owner.__qualname__)


def find_missing_owner(function: Any, *, is_method: bool) -> str | None:
    """Return the name of the class whose unbound method this is, or None.

    Args:
        function: Any callable.
        is_method: Whether it is known to be a method; otherwise its first parameter tells.
    """
    scope = _find_scope(function)
    if not scope or scope.endswith("<locals>"):
        return None
    looks_like_one = inspect.isfunction(function) and next(iter(inspect.signature(function).parameters), "") in _FIRST
    return scope.rpartition(".")[2] if is_method or looks_like_one else None


_FIRST = ("self", "cls")


def only_refuses(function: Any) -> bool:
    """Return whether a function only raises NotImplementedError."""
    code = getattr(getattr(function, "__func__", function), "__code__", None)
    if code is None or "NotImplementedError" not in code.co_names:
        return False
    steps = {step.opname for step in dis.get_instructions(code)} - {"RETURN_GENERATOR"}
    return "RAISE_VARARGS" in steps and not any(step.startswith(_WAYS_ON) for step in steps)


# What would lead elsewhere than to the error.
_WAYS_ON = ("RETURN_", "GET_AWAITABLE", "JUMP", "POP_JUMP", "FOR_ITER", "SETUP_", "BEFORE_", "YIELD_")


def bind(function: Callable[..., Any] | None, holder: object) -> Callable[..., Any] | None:
    """Bind a function to an instance, or to a class."""
    return None if function is None else MethodType(function, holder)


def unwrap_method(function: Any) -> Any:
    """Unwrap a function from @classmethod, which is not callable, or from @staticmethod."""
    return function.__func__ if isinstance(function, classmethod | staticmethod) else function


def _find_scope(function: Any) -> str:
    if inspect.isclass(function) or inspect.ismethod(function):
        return ""
    return str(getattr(function, "__qualname__", "")).rpartition(".")[0]
