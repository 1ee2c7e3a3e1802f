"""A guardrail is a function with a name, which answers with one of four verdicts."""

from typing import Any

import pytest

from sidecall import (
    ToolContext,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrailData,
    tool_input_guardrail,
    tool_output_guardrail,
)
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.core.guardrails import (
    ToolInputGuardrail,
    ToolOutputGuardrail,
    make_input_guardrail,
    make_output_guardrail,
)

DATA = ToolInputGuardrailData(
    context=ToolContext(tool_name="search", tool_call_id="call_1", invocation_id="i"), args={"query": "q"}
)


def look(data: Any) -> ToolGuardrailFunctionOutput:
    """Allow, and say what was seen."""
    return ToolGuardrailFunctionOutput.allow(data.args)


async def look_later(data: Any) -> ToolGuardrailFunctionOutput:
    """Do so asynchronously."""
    return look(data)


class Looking:
    """Judge by being called."""

    def __call__(self, data: Any) -> ToolGuardrailFunctionOutput:
        """Allow."""
        return look(data)


VERDICTS: list[Any] = [
    (ToolGuardrailFunctionOutput.allow(1), ("allow", "", None, 1)),
    (ToolGuardrailFunctionOutput.allow(), ("allow", "", None, None)),
    (ToolGuardrailFunctionOutput.reject_content("No.", 1), ("reject_content", "No.", None, 1)),
    (ToolGuardrailFunctionOutput.raise_exception({"a": 1}), ("raise_exception", "", None, {"a": 1})),
    (ToolGuardrailFunctionOutput.replace({"b": 2}, 1), ("replace", "", {"b": 2}, 1)),
]


@pytest.mark.parametrize(("made", "expected"), VERDICTS, ids=["allow", "bare allow", "reject", "raise", "replace"])
def test_there_are_four_verdicts(made: ToolGuardrailFunctionOutput, expected: tuple[Any, ...]) -> None:
    """Three of the OpenAI Agents SDK's, and one that goes on with something else."""
    assert (made.verdict, made.message, made.value, made.output_info) == expected


@pytest.mark.parametrize(
    ("decorate", "kind"),
    [(tool_input_guardrail, ToolInputGuardrail), (tool_output_guardrail, ToolOutputGuardrail)],
    ids=["input", "output"],
)
def test_a_decorator_makes_a_guardrail_of_a_function(decorate: Any, kind: type) -> None:
    """Bare, with brackets, and with a name."""
    bare, called, named, object_ = decorate(look), decorate()(look), decorate(name="No secrets")(look), Looking()

    assert {type(it) for it in (bare, called, named)} == {kind}
    assert [it.name for it in (bare, called, named, decorate(object_))] == ["look", "look", "No secrets", "Looking"]
    assert {it.guardrail_function for it in (bare, called, named)} == {look}


@pytest.mark.parametrize("function", [look, look_later, Looking()], ids=["sync", "async", "object"])
async def test_the_verdict_is_asked_for(function: Any) -> None:
    """The function sees what is judged, and may be async."""
    verdict = await tool_input_guardrail(function).judge(DATA)

    assert verdict == ToolGuardrailFunctionOutput({"query": "q"})


@pytest.mark.parametrize("answer", [None, True, False, "allow", {"behavior": "allow"}], ids=repr)
async def test_an_answer_that_is_no_verdict_is_an_error(answer: Any) -> None:
    """It must not count as leave to go on."""
    with pytest.raises(TypeError) as caught:
        await tool_input_guardrail(name="g")(lambda _: answer).judge(DATA)

    assert str(caught.value) == f"guardrail g returned {type(answer).__name__}, no ToolGuardrailFunctionOutput"


@pytest.mark.parametrize(
    ("take", "kind"), [(make_input_guardrail, ToolInputGuardrail), (make_output_guardrail, ToolOutputGuardrail)]
)
def test_a_plain_function_will_do(take: Any, kind: type) -> None:
    """The option says already what it judges."""
    assert isinstance(take(look), kind)
    assert take(look).name == "look"


def test_a_guardrail_that_is_made_already_is_taken_as_it_is() -> None:
    """Under its own name."""
    before, after = tool_input_guardrail(name="a")(look), tool_output_guardrail(name="b")(look)

    assert make_input_guardrail(before) is before
    assert make_output_guardrail(after) is after


REFUSED: list[Any] = [
    (
        lambda: make_input_guardrail(tool_output_guardrail(look)),
        "guardrail look judges outputs; give it as one of tool_output_guardrails",
    ),
    (
        lambda: make_output_guardrail(tool_input_guardrail(look)),
        "guardrail look judges arguments; give it as one of tool_input_guardrails",
    ),
    (lambda: make_input_guardrail("no"), "a guardrail is a function, not str"),
    (lambda: make_output_guardrail(None), "a guardrail is a function, not NoneType"),
    (lambda: tool_input_guardrail(name="x")(5), "a guardrail is a function, not int"),  # type: ignore[arg-type]
    (lambda: tool_output_guardrail(name="x")(5), "a guardrail is a function, not int"),  # type: ignore[arg-type]
]


@pytest.mark.parametrize(
    ("make", "expected"), REFUSED, ids=["output as input", "input as output", "text", "None", "int", "int out"]
)
def test_what_is_no_such_guardrail_is_refused(make: Any, expected: str) -> None:
    """When the tool is defined, not when it is called."""
    with pytest.raises(InvalidToolOption) as caught:
        make()

    assert caught.value.message == expected


def test_a_verdict_lets_the_call_go_on_unless_it_says_otherwise() -> None:
    """As in the OpenAI Agents SDK."""
    assert ToolGuardrailFunctionOutput(output_info="seen") == ToolGuardrailFunctionOutput.allow("seen")
