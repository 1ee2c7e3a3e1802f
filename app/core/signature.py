"""Read a function's parameters with their annotations resolved."""

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

EMPTY = inspect.Parameter.empty
VARIADIC = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True, slots=True)
class Parameter:
    """Describe one parameter; `annotation` and `default` are `EMPTY` when the author wrote none."""

    name: str
    kind: inspect._ParameterKind
    annotation: Any
    default: Any

    @property
    def required(self) -> bool:
        """Whether a call must say it."""
        return self.default is EMPTY and self.kind not in VARIADIC


@dataclass(frozen=True, slots=True)
class Signature:
    """Hold the parameters of a function in order, and its return annotation (`EMPTY` when there is none)."""

    parameters: tuple[Parameter, ...]
    returns: Any


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read the signature of any callable.

    ToolAnnotations written as text are looked up in the function's module and in the variables it closes over.

    Raises:
        NameError: A parameter's annotation names something that does not exist. A return annotation that cannot be
            resolved is left out instead, since only the output schema depends on it.
    """
    target = inspect.unwrap(function)
    hints = _hints(_code_of(target))
    parameters = tuple(
        Parameter(p.name, p.kind, hints.get(p.name, p.annotation), p.default)
        for p in inspect.signature(function).parameters.values()
    )
    return Signature(parameters, target if inspect.isclass(target) else hints.get("return", EMPTY))


def _code_of(target: Any) -> Any:
    """Find the function that a call of anything callable runs."""
    if inspect.isclass(target):
        target = target.__init__
    elif not inspect.isroutine(target):
        target = type(target).__call__
    return getattr(target, "__func__", target)


def _hints(function: Any) -> dict[str, Any]:
    closure = inspect.getclosurevars(function).nonlocals if hasattr(function, "__closure__") else {}
    hints: dict[str, Any] = {}
    for name, annotation in getattr(function, "__annotations__", {}).items():
        try:
            hints[name] = _resolve(annotation, getattr(function, "__globals__", {}), closure)
        except NameError:
            if name != "return":
                raise
    return hints


def _resolve(annotation: Any, module: Mapping[str, Any], closure: Mapping[str, Any]) -> Any:
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    return typing.get_type_hints(holder, dict(module), dict(closure), include_extras=True)["it"]
