"""Write Sidecall's own failures and refusals as plain values, and make them again as the classes that they were."""

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from types import NoneType
from typing import Any, TypeVar

from sidecall.kernel.core.errors import SidecallError, ToolException, ToolFailure, ToolNotConfigured
from sidecall.kernel.core.overload import CallRefused
from sidecall.kernel.json_data.to_json import render_failure, to_plain

_Error = TypeVar("_Error", bound=BaseException)

# What is carried of them beside their text. Code in a sandbox may write anything in its place, so types are checked.
_STATE: Mapping[str, tuple[type, ...]] = {
    "kind": (str,),
    "retryable": (bool,),
    "retry_after_ms": (int, NoneType),
    "errors": (list,),
    "nearest": (list,),
    "details": (dict,),
    "lack": (str,),
    "seconds": (int, float),
    "retry_after": (int,),
    "members": (dict,),
    "question": (str,),
}


def write_typed(error: ToolFailure | CallRefused) -> dict[str, Any]:
    """Write a failure or refusal with its class and what it says to programs.

    Raises:
        ValueError: JSON cannot say it.
    """
    said = {name: to_plain(it) for name, it in vars(error).items() if name in _STATE}
    return {"classes": list_classes(error), "message": error.message, "state": said}


def read_typed(answer: Mapping[str, Any]) -> Exception:
    """Make it again; its class is the nearest that is known here.

    Raises:
        TypeError: It is none of these failures, or what it says is of another type.
    """
    kind: type[SidecallError] | None = find_class(answer["classes"], ToolFailure)
    if kind is None:
        kind = find_class(answer["classes"], CallRefused)
    if kind is None:
        raise TypeError("This is no failure of a tool, nor a refusal")
    made: Any = Exception.__new__(kind)
    SidecallError.__init__(made, str(answer["message"]))
    vars(made).update(_check(answer["state"]))
    if isinstance(made, CallRefused):
        made.headers = {"Retry-After": str(made.retry_after)}
    if isinstance(made, ToolNotConfigured):
        made.add_note(made.lack)
    error: Exception = made
    return error


def _check(state: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, value in state.items():
        if type(value) not in _STATE.get(name, ()):
            raise TypeError(f"{name} is a {type(value).__name__}")
        yield name, value


def list_classes(error: BaseException) -> list[list[str]]:
    """List the modules and names of an exception's class and of all that it derives from."""
    return [[kind.__module__, kind.__qualname__] for kind in type(error).__mro__]


def find_class(classes: Sequence[Sequence[str]], base: type[_Error]) -> type[_Error] | None:
    """Return the first of the classes that this process knows and that derives from `base`."""
    for module, name in classes:
        kind = getattr(sys.modules.get(module), name, None)
        if isinstance(kind, type) and issubclass(kind, base):
            return kind
    return None


def write_own_class(error: ToolException) -> dict[str, Any]:
    """Write which class of its author's an exception has, and its attributes that have a form in JSON."""
    if type(error) is ToolException:
        return {}
    own: dict[str, Any] = {}
    for name, value in vars(error).items():
        if not hasattr(ToolException, name):
            with suppress(ValueError):
                own[name] = to_plain(value)
    return {"classes": list_classes(error), "own": own}


def restore_own_class(failure: ToolException, answer: Mapping[str, Any]) -> ToolException:
    """Make an exception of its author's class again, where that is known here and says the same to a model."""
    kind = find_class(answer.get("classes", ()), ToolException)
    if kind is None or kind is ToolException:
        return failure
    made = Exception.__new__(kind)
    made.args = failure.args
    own = {name: it for name, it in answer["own"].items() if not hasattr(ToolException, name)}
    vars(made).update(own | vars(failure))
    with suppress(Exception):  # A property may need what was not carried.
        if render_failure(made) == render_failure(failure):
            return made
    return failure
