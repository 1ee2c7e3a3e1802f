"""Show functions around a tool why arguments were refused, without values hidden from them."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.invocation import Invocation


def hide_in_refused(invocation: Invocation, failure: InvalidArguments) -> InvalidArguments:
    """Return the error with the call's secrets masked; unchanged if the call has none."""
    if invocation.mask is None:
        return failure
    original: Any = failure.original
    shown = None if original is None else make_shown(invocation, original.errors())
    return InvalidArguments(invocation.mask.hide(failure.errors), lambda: shown)


def make_shown(invocation: Invocation, found: Iterable[Mapping[str, Any]]) -> ValidationError:
    """Build pydantic's error for the refused arguments, with what the model sent and nothing hidden from it."""
    hidden = invocation.tool.hidden_names
    visible = {name: it for name, it in invocation.args.items() if name not in hidden}
    details = [_write_detail(_hide(invocation, it), _hide(invocation, visible)) for it in found]
    return ValidationError.from_exception_data(invocation.tool.name, details)


def _hide(invocation: Invocation, value: Any) -> Any:
    return value if invocation.mask is None else invocation.mask.hide(value)


def _write_detail(found: Mapping[str, Any], args: Mapping[str, Any]) -> InitErrorDetails:
    """Write one error detail; a missing argument shows the object around it, as in pydantic."""
    bounds = {name: it for name, it in (found.get("ctx") or {}).items() if not isinstance(it, BaseException)}
    rule = PydanticCustomError(found["type"], found["msg"], bounds or None)
    value: Any = args
    for part in found["loc"]:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            break
    return {"type": rule, "loc": tuple(found["loc"]), "input": value}
