"""Read a function's parameters with their annotations resolved."""

import functools
import inspect
import os
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.tool import EMPTY, MOST_VALUES, Bound, Parameter, Schema

_UNFIT = "the arguments of functools.partial do not fit its function"


@dataclass(frozen=True, slots=True)
class Signature:
    """The parameters of a function in order, and its return annotation (`EMPTY` when there is none)."""

    parameters: tuple[Parameter, ...]
    returns: Any


def read_signature(function: Callable[..., Any]) -> Signature:
    """Read the signature of any callable.

    Parameters that functools.partial has bound are marked as `Bound`: known, but not settable. Text annotations are
    resolved in the function's module and closure.

    Raises:
        NameError: A parameter's annotation names something that does not exist. A return annotation that cannot be
            resolved is left out instead, since only the output schema depends on it.
        ValueError: A functools.partial has arguments that its function does not take, or something written in C does
            not say what it takes.
    """
    target = unwrap(function)
    hints = _resolve_hints(_find_code(target))
    outer = inspect.unwrap(function, stop=_is_partial)
    read, bound = _read_partial(outer) if _is_partial(outer) else (inspect.signature(function), ())
    free = [
        Parameter(p.name, p.kind, hints.get(p.name, p.annotation), p.default)
        for p in read.parameters.values()
        if p.name not in bound
    ]
    hidden = [Parameter(name, inspect.Parameter.KEYWORD_ONLY, Annotated[Any, Bound], None) for name in bound]
    parameters = tuple(sorted([*free, *hidden], key=lambda parameter: parameter.kind))
    return Signature(parameters, target if inspect.isclass(target) else hints.get("return", EMPTY))


def is_builtin(annotation: Any) -> bool:
    """Return whether an annotation is a type of Python's own, such as `str`, in which no library has put anything."""
    return type(annotation) is type and annotation.__module__ == "builtins"


def is_resolved(annotation: Any) -> bool:
    """Return whether an annotation is made of types and literals alone: no text in it, and no metadata."""
    origin: Any = typing.get_origin(annotation)
    if isinstance(annotation, type) or origin is Literal:
        return True
    is_plain = origin in _UNIONS or (isinstance(origin, type) and origin is not Annotated)
    return is_plain and all(map(is_resolved, typing.get_args(annotation)))


_UNIONS = (typing.Union, types.UnionType)


def unwrap(function: Any) -> Any:
    """Return the function below decorators and functools.partial."""
    while _is_partial(outer := inspect.unwrap(function, stop=_is_partial)):
        function = outer.func
    return outer


def _is_partial(function: Any) -> bool:
    return isinstance(function, functools.partial)


def _read_partial(function: Any) -> tuple[inspect.Signature, tuple[str, ...]]:
    """Return a partial's remaining parameters, and the names it binds, even of `**kwargs`."""
    flat = _flatten(function)
    try:
        whole, left = inspect.signature(flat.func), inspect.signature(flat)
    except ValueError as error:
        raise ValueError(_UNFIT) from error
    if not _takes_by_name(whole, flat.keywords):
        raise ValueError(_UNFIT)
    names = [name for name in whole.parameters if name not in left.parameters]
    return left, tuple(dict.fromkeys([*names, *flat.keywords]))


def _takes_by_name(signature: inspect.Signature, names: Iterable[str]) -> bool:
    """Return whether a function takes all of these as keywords; Python 3.13 itself accepts positional-only ones."""
    kinds = {name: parameter.kind for name, parameter in signature.parameters.items()}
    is_open = inspect.Parameter.VAR_KEYWORD in kinds.values()
    return is_open or all(kinds[name] is not inspect.Parameter.POSITIONAL_ONLY for name in names)


def _flatten(function: Any) -> Any:
    """Merge nested partials into one, without the attributes of functools.update_wrapper."""
    args, keywords = function.args, function.keywords
    inner = function.func
    while _is_partial(inner):
        args, keywords = (*inner.args, *args), {**inner.keywords, **keywords}
        inner = inner.func
    return functools.partial(inner, *args, **keywords)


def _find_code(target: Any) -> Any:
    """Return the function that a callable object runs."""
    if inspect.isclass(target):
        target = target.__init__
    elif not inspect.isroutine(target):
        target = type(target).__call__
    return getattr(target, "__func__", target)


def _resolve_hints(function: Any) -> dict[str, Any]:
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
    if is_resolved(annotation):  # As most are.
        return annotation
    holder = types.SimpleNamespace(__annotations__={"it": annotation})
    return typing.get_type_hints(holder, dict(module), dict(closure), include_extras=True)["it"]


def find_source(function: Any) -> str:
    """Return the file and line of a function or class, relative to the working directory if inside it."""
    plain = unwrap(function) if callable(function) else function
    target = getattr(plain, "__func__", plain)
    code = getattr(target, "__code__", None)
    if code is None:
        target = target if inspect.isclass(target) else type(target)
        return f"{getattr(target, '__module__', '?')}.{target.__qualname__}"
    # Not with pathlib, which takes as long as all else that is read of a function.
    return f"{code.co_filename.removeprefix(os.path.join(os.getcwd(), ''))}:{code.co_firstlineno}"


_SCHEMA: Schema = {"type": "object", "properties": {"__arg1": {"type": "string"}}, "required": ["__arg1"]}


@dataclass(frozen=True, slots=True)
class SingleInputArgsSchema:
    """One string is advertised, and one value of any name is accepted, as in LangChain."""

    tool: str
    json_schema: Schema = field(default_factory=lambda: _SCHEMA)
    flat: Schema = field(default_factory=lambda: _SCHEMA)
    hidden: Mapping[str, str] = field(default_factory=dict)
    reserved: frozenset[str] = frozenset()

    @property
    def most_at_once(self) -> int:
        """How many values are validated without others having a turn."""
        return MOST_VALUES

    def in_steps(self) -> "SingleInputArgsSchema":
        """Return a copy that validates in steps, between which other threads may run."""
        return self

    def drop_unknown(self) -> "SingleInputArgsSchema":
        """Return a copy that drops all unknown arguments, even those that may have been meant for a missing one."""
        return self

    def as_sent(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the values unchanged, since any name is accepted."""
        return dict(values)

    def validate(
        self, args: Mapping[str, Any], injected: Mapping[str, Any], repaired: list[str], ignored: list[str]
    ) -> dict[str, Any]:
        """Return the one value.

        Raises:
            ToolException: There is not exactly one; the text is LangChain's.
        """
        del injected, repaired, ignored
        if len(args) != 1:
            raise ToolException(refuse_many(self.tool, list(args.values())))
        return {"tool_input": next(iter(args.values()))}


def refuse_many(tool: str, given: list[Any]) -> str:
    """Format LangChain's error for several arguments, or none."""
    return (
        f"Too many arguments to single-input tool {tool}.\n"
        f"                Consider using StructuredTool instead. Args: {given}"
    )
