"""The arguments of a call become the values of its tool's parameters."""

from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from sidecall import InjectedState, tool
from sidecall.core.errors import InvalidArguments, MissingContext, ToolExecutionError
from sidecall.core.invocation import Invocation, new_invocation
from sidecall.schema.arguments import fill_hidden, validate
from tests.kit.calls import write_request


def crash(value: int) -> int:
    """Crash at 1."""
    if value == 1:
        raise RuntimeError("bad luck")
    return value


@tool
def add(number: int, user: Annotated[str, InjectedState("user")], fragile: Annotated[int, AfterValidator(crash)] = 0):
    """Add."""


def begin(args: dict[str, Any], state: Any) -> Invocation:
    """Begin a call of it."""
    invocation = new_invocation(write_request("add", args, state=state), add.compiled, None)
    invocation.args = args
    return invocation


def test_what_the_model_sent_and_what_was_injected_come_together() -> None:
    """By the names of the parameters."""
    invocation = begin({"number": "3"}, {"user": "Ada"})
    fill_hidden(invocation)
    validate(invocation)

    assert invocation.injected == {"user": "Ada"}
    assert invocation.values == {"number": 3, "user": "Ada", "fragile": 0}


def test_who_must_act_is_told_what_is_wrong() -> None:
    """The caller of what is missing beside the call, the model of its arguments, and nobody of a crash."""
    with pytest.raises(MissingContext):
        fill_hidden(begin({"number": 3}, {}))
    with pytest.raises(InvalidArguments):
        validate(begin({"number": "three"}, {}))
    with pytest.raises(ToolExecutionError):
        validate(begin({"number": 3, "fragile": 1}, {}))
