"""Tools whose class overrides how the function runs: a subclass of StructuredTool that defines `_run`."""

import dis
import inspect
import typing
from collections.abc import Callable
from dataclasses import replace
from types import MethodType
from typing import Any

from sidecall.compiler.injection_plan import match_type, plan_injections
from sidecall.compiler.langchain_runtime import RunnableConfig
from sidecall.compiler.signature import read_signature
from sidecall.kernel.core.tool import EMPTY, Parameter

# What LangChain's own `_run` takes besides the function's arguments.
_HANDED_ON = ("config", "run_manager")


def find_override(tool: object, base: type, *, is_async: bool) -> Callable[..., Any] | None:
    """Find the method of the author's class that runs in place of the function.

    As in LangChain that is `_arun` for a coroutine and `_run` for any other function. Where `_run` only raises
    NotImplementedError, `_arun` serves for both.
    """
    kind = type(tool)
    own = {name: getattr(tool, name) for name in ("_run", "_arun") if getattr(kind, name) is not getattr(base, name)}
    prefers_arun = is_async or only_refuses(own.get("_run"))
    found: Callable[..., Any] | None = own.get("_arun" if prefers_arun else "_run")
    return None if only_refuses(found) else found


def stand_around(method: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap the method as a function that also takes the parameters of the wrapped function."""

    def run(*args: Any, **kwargs: Any) -> Any:
        return method(*args, **kwargs)

    async def arun(*args: Any, **kwargs: Any) -> Any:
        return await method(*args, **kwargs)

    made: Any = arun if inspect.iscoroutinefunction(method) else run
    vars(made)["__signature__"] = _join(method, function)
    made.__doc__ = function.__doc__
    return made  # type: ignore[no-any-return]


def _join(method: Callable[..., Any], function: Callable[..., Any]) -> inspect.Signature:
    taken = read_signature(function)
    parameters = [_type_config(it) for it in read_signature(method).parameters]
    asked = {injection.parameter for injection in plan_injections(parameters)} - {it.name for it in taken.parameters}
    own = [it for it in parameters if it.name in asked]
    made = [
        inspect.Parameter(it.name, it.kind, default=it.default, annotation=it.annotation) for it in taken.parameters
    ]
    only = inspect.Parameter.KEYWORD_ONLY
    hidden = [inspect.Parameter(it.name, only, default=it.default, annotation=it.annotation) for it in own]
    rest = [it for it in made if it.kind is inspect.Parameter.VAR_KEYWORD]
    return inspect.Signature([*(it for it in made if it not in rest), *hidden, *rest], return_annotation=taken.returns)


def keep_wanted(function: Callable[..., Any], given: dict[str, Any]) -> dict[str, Any]:
    """Select the arguments that a function accepts from those a subclass passes to `super()._run`, as LangChain does.

    Arguments without a parameter are dropped. The config goes to the parameter of that type, under any name.
    """
    if not any(name in given for name in _HANDED_ON):
        return given
    try:
        taken = {parameter.name: parameter.annotation for parameter in read_signature(function).parameters}
    except (NameError, ValueError):  # Some functions written in C do not say what they take.
        taken = {}
    made = {name: value for name, value in given.items() if name in taken or name not in _HANDED_ON}
    if "config" in given:
        made.update({name: given["config"] for name, annotation in taken.items() if _is_config(annotation)})
    return made


def _is_config(annotation: Any) -> bool:
    return any(match_type(part) == "runnable_config" for part in (annotation, *typing.get_args(annotation)))


def _type_config(parameter: Parameter) -> Parameter:
    """Add the type of a `config` without one, which in a `_run` is LangChain's."""
    is_untyped = parameter.name == "config" and parameter.annotation in (EMPTY, Any)
    return replace(parameter, annotation=RunnableConfig) if is_untyped else parameter


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
