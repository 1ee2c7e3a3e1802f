"""Show why arguments were refused to functions around a tool, without what is hidden from them."""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError

from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.invocation import Invocation


def hide_in_refused(invocation: Invocation, failure: InvalidArguments) -> InvalidArguments:
    """Return the error without the secrets that the call was given; as it is where it was given none."""
    if invocation.mask is None:
        return failure
    original: Any = failure.original
    shown = None if original is None else make_shown(invocation, original.errors())
    return InvalidArguments(invocation.mask.hide(failure.errors), lambda: shown)


def make_shown(invocation: Invocation, found: Iterable[Mapping[str, Any]]) -> ValidationError:
    """Make pydantic's error of what is wrong, with the arguments that the model sent and nothing hidden from it."""
    hidden = invocation.tool.hidden_names
    visible = {name: it for name, it in invocation.args.items() if name not in hidden}
    details = [_write_detail(_hide(invocation, it), _hide(invocation, visible)) for it in found]
    return ValidationError.from_exception_data(invocation.tool.name, details)


def _hide(invocation: Invocation, value: Any) -> Any:
    return value if invocation.mask is None else invocation.mask.hide(value)


def _write_detail(found: Mapping[str, Any], args: Mapping[str, Any]) -> InitErrorDetails:
    """Write what is wrong in one place; what is missing there shows what is around it, as pydantic has it."""
    bounds = {name: it for name, it in (found.get("ctx") or {}).items() if not isinstance(it, BaseException)}
    rule = PydanticCustomError(found["type"], found["msg"], bounds or None)
    value: Any = args
    for part in found["loc"]:
        try:
            value = value[part]
        except (KeyError, IndexError, TypeError):
            break
    return {"type": rule, "loc": tuple(found["loc"]), "input": value}
