"""Tools of a function whose class runs it in its own way: a subclass of StructuredTool that defines `_run`."""

import inspect
from collections.abc import Callable
from typing import Any

from sidecall.authoring.methods import only_refuses
from sidecall.schema.injections import plan_injections
from sidecall.schema.signature import read_signature

# What LangChain's own `_run` takes beside the arguments of the function.
_HANDED_ON = ("config", "run_manager")


def find_override(tool: object, base: type, *, is_async: bool) -> Callable[..., Any] | None:
    """Find the method of the author's class that is to run in place of the function.

    `_arun` comes first where the function is a coroutine; around any other LangChain runs `_run`, if there is one.
    """
    kind = type(tool)
    order = ("_arun", "_run") if is_async else ("_run", "_arun")
    names = (name for name in order if getattr(kind, name) is not getattr(base, name))
    found = [getattr(tool, name) for name in names]
    own: Callable[..., Any] | None = next((method for method in found if not only_refuses(method)), None)
    return own


def stand_around(method: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function that runs the method, and takes what the function takes, and what the method asks for itself."""

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
    parameters = read_signature(method).parameters
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
    """Leave out what a subclass hands to `super()._run` as LangChain has it, where the function does not ask for it."""
    if not any(name in given for name in _HANDED_ON):
        return given
    try:
        taken = {parameter.name for parameter in read_signature(function).parameters}
    except (NameError, ValueError):  # Some functions written in C do not say what they take.
        taken = set()
    return {name: value for name, value in given.items() if name in taken or name not in _HANDED_ON}
