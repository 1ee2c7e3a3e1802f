"""The arguments of a call become the values of its tool's parameters."""

import gc
from typing import Annotated, Any

import pytest
from pydantic import AfterValidator

from sidecall import InjectedState, ToolGuardrailFunctionOutput, tool, tool_input_guardrail
from sidecall.kernel.core.errors import InvalidArguments, MissingContext, ToolExecutionError
from sidecall.kernel.core.invocation import Invocation, new_invocation
from sidecall.kernel.schema.arguments import fill_hidden, validate, validate_in_steps
from tests.kit.calls import run, write_request


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
    filled = dict(invocation.values)
    validate(invocation)

    assert filled == {"user": "Ada"}
    assert invocation.values == {"number": 3, "user": "Ada", "fragile": 0}


def test_who_must_act_is_told_what_is_wrong() -> None:
    """The caller of what is missing beside the call, the model of its arguments, and nobody of a crash."""
    with pytest.raises(MissingContext):
        fill_hidden(begin({"number": 3}, {}))
    with pytest.raises(InvalidArguments):
        validate(begin({"number": "three"}, {}))
    with pytest.raises(ToolExecutionError):
        validate(begin({"number": 3, "fragile": 1}, {}))


@tool(args_schema={"properties": {"values": {"items": {"anyOf": [{"type": "integer"}, {"type": "boolean"}]}}}})
def choose(values: list[Any]) -> int:
    """Choose."""
    return len(values)


@tool
def choose_typed(values: list[int | bool]) -> int:
    """Choose."""
    return len(values)


def list_listed() -> list[Any]:
    """List the errors of validators that are kept."""
    return [it for it in gc.get_objects() if type(it).__name__ == "ValidationError"]


@pytest.mark.parametrize("made", [choose, choose_typed])
def test_a_failure_keeps_none_of_the_errors_that_it_was_made_of(made: Any) -> None:
    """There may be thousands of each call, and a batch keeps its failures until all of it is answered."""
    args = {"values": ["x"] * 50}
    invocation = new_invocation(write_request(made.compiled.name, args), made.compiled, None)
    invocation.args = args
    before = list_listed()

    with pytest.raises(InvalidArguments) as caught:
        validate_in_steps(invocation)

    assert [it for it in list_listed() if all(it is not known for known in before)] == []
    assert len(caught.value.errors) == 50


async def test_each_argument_that_is_dropped_is_noted_once() -> None:
    """Though a guardrail lets the arguments be read twice."""

    @tool_input_guardrail
    def repeat(data: Any) -> Any:
        return ToolGuardrailFunctionOutput.replace(data.args | {"zz": [1]})

    guarded = tool(tool_input_guardrails=[repeat])(add_one)
    message = await run(guarded, {"number": 1, "zz": [2], "yy": [3]})

    assert message.response_metadata["ignored_args"] == ["zz", "yy"]


def add_one(number: int) -> int:
    """Add one."""
    return number + 1
