"""The arguments of a call become the values of its tool's parameters."""

import gc
import json
from typing import Annotated, Any, Literal

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


TEXTS: dict[str, Any] = {"properties": {"n": {"allOf": [{"type": "integer"}, {"type": "integer", "maximum": 9}]}}}


@tool(args_schema=TEXTS)
def count(n: int = 0) -> int:
    """Count."""
    return n


@tool
def store(max_size: int, mode: Literal["fast", "safe"] = "safe", tags: list[str] = []) -> Any:  # noqa: B006
    """Store."""
    return [max_size, mode, tags]


FENCED = '```json\n{"max_size": %s}\n```'


@pytest.mark.parametrize(
    ("made", "args", "repaired"),
    [
        (count, {"n": "3"}, ["n: text instead of a number"]),  # which two rules refuse
        (
            store,
            {"maxSize": 1, "mode": "Fast"},
            ["max_size: sent under its name in other letters", 'mode: "fast" in other letters'],
        ),
        (store, FENCED % 1, ["arguments: taken out of a Markdown fence"]),
        (store, json.dumps(json.dumps({"max_size": 1})), ["arguments: JSON text inside JSON text"]),
        # nothing runs, so nothing is mended
        (count, {"n": "12"}, []),
        (store, {"maxSize": "many"}, []),
        (store, {"maxSize": 1, "mode": "slow"}, []),
        (store, {"max_size": "many", "tags": '["a"]'}, []),
        (store, {"arguments": {"maxSize": "many"}}, []),
        (store, FENCED % '"many"', []),
        (store, FENCED % "", []),
    ],
)
async def test_each_mend_is_noted_once_and_none_of_a_call_that_is_refused(
    made: Any, args: Any, repaired: list[str]
) -> None:
    """No matter what was read on the way."""
    message = await run(made, args)

    assert message.response_metadata["repaired"] == repaired
    assert (message.status == "success") == bool(repaired)


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
