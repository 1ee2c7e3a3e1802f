"""What authors write as options is checked and made ready once, when the tool is defined."""

import functools
from typing import Any

import pytest

from sidecall import (
    BaseCallbackHandler,
    BaseTool,
    StructuredTool,
    Tool,
    ToolAnnotations,
    ToolGuardrailFunctionOutput,
    tool,
    tool_input_guardrail,
    tool_output_guardrail,
)
from sidecall.authoring.options import takes
from sidecall.kernel.core.errors import InvalidToolOption, SchemaInferenceError


def work(order: int) -> str:
    """Work."""
    return f"worked on {order}"


def judge(data: Any) -> ToolGuardrailFunctionOutput:
    """Allow."""
    return ToolGuardrailFunctionOutput.allow()


def words(context: Any, error: Exception) -> str:
    """Word an error."""
    return str(error)


PASSED_ON: list[Any] = [
    ("return_direct", True, True),
    ("response_format", "content_and_artifact", "content_and_artifact"),
    ("tags", ["a", "b"], ("a", "b")),
    ("metadata", {"a": 1}, {"a": 1}),
    ("timeout", 5, 5.0),
    ("timeout_behavior", "raise", "raise"),
    ("timeout_error_function", words, words),
    ("executor", "inline", "inline"),
    ("unknown_args", "forbid", "forbid"),
    ("extras", {"a": 1}, {"a": 1}),
    ("annotations", ToolAnnotations(read_only=True), ToolAnnotations(read_only=True)),
    ("handle_tool_error", None, None),
    ("handle_tool_error", "Later.", "Later."),
    ("handle_validation_error", True, True),
    ("failure_error_function", words, words),
    ("is_enabled", False, False),
    ("requires_approval", True, True),
    ("strict", True, True),
    ("strict", False, False),
]


@pytest.mark.parametrize(("option", "given", "expected"), PASSED_ON)
def test_each_option_reaches_the_tool(option: str, given: Any, expected: Any) -> None:
    """No matter how it is written."""

    class Worker(BaseTool):
        name: str = "work"

        def _run(self, order: int) -> str:
            """Work."""
            return work(order)

    tools = [
        tool(**{option: given})(work),
        StructuredTool.from_function(work, **{option: given}),
        Tool(name="work", func=str.upper, description="Work.", **{option: given}),
        Worker(**{option: given}),
    ]

    reached = [getattr(it.compiled.options, option) for it in tools]
    assert [getattr(value, "__wrapped__", value) for value in reached] == [expected] * 4


@pytest.mark.parametrize("option", ["tags", "metadata", "extras", "annotations", "callbacks", "tool_input_guardrails"])
def test_none_is_nothing(option: str) -> None:
    """As if the option had been left out."""
    given = tool(**{option: None})(work).compiled.options

    assert getattr(given, option) == getattr(tool(work).compiled.options, option)


def test_handlers_and_guardrails_are_made_ready() -> None:
    """Decorated or not, in their order; a tuple will do."""
    options = tool(
        callbacks=(BaseCallbackHandler(), BaseCallbackHandler()),
        tool_input_guardrails=[judge, tool_input_guardrail(name="second")(judge)],
        tool_output_guardrails=(tool_output_guardrail(name="first")(judge), judge),
    )(work).compiled.options

    assert [len(callback.methods) for callback in options.callbacks] == [3, 3]
    assert [it.name for it in options.tool_input_guardrails] == ["judge", "second"]
    assert [it.name for it in options.tool_output_guardrails] == ["first", "judge"]


ARGUMENTS = "the arguments, or of the ToolContext, the arguments and the call's id"
FAILURE = "the ToolContext and the exception"
WHO = "the Caller, or of the ToolContext and an agent"
UNFIT: list[Any] = [
    ({"is_enabled": lambda: True}, f"option `is_enabled` has to be a function of {WHO}."),
    ({"is_enabled": lambda _a, _b, _c: True}, f"option `is_enabled` has to be a function of {WHO}."),
    ({"requires_approval": lambda: True}, f"option `requires_approval` has to be a function of {ARGUMENTS}."),
    ({"requires_approval": lambda _a, _b: True}, f"option `requires_approval` has to be a function of {ARGUMENTS}."),
    ({"requires_approval": lambda *, _a: True}, f"option `requires_approval` has to be a function of {ARGUMENTS}."),
    (
        {"failure_error_function": lambda _error: ""},
        f"option `failure_error_function` has to be a function of {FAILURE}.",
    ),
    ({"timeout_error_function": lambda: ""}, f"option `timeout_error_function` has to be a function of {FAILURE}."),
    (
        {"callbacks": [object()]},
        "a callback handler has one of on_tool_start, on_tool_end, on_tool_error; object has none",
    ),
    ({"tool_input_guardrails": [5]}, "a guardrail is a function, not int"),
    (
        {"tool_output_guardrails": [tool_input_guardrail(judge)]},
        "guardrail judge judges arguments; give it as one of tool_input_guardrails",
    ),
    (
        {"tool_input_guardrails": [tool_output_guardrail(judge)]},
        "guardrail judge judges outputs; give it as one of tool_output_guardrails",
    ),
]


@pytest.mark.parametrize(("options", "expected"), UNFIT)
def test_a_function_that_does_not_take_what_it_is_given_is_refused(options: Any, expected: str) -> None:
    """With the tool and its file, before a call could meet it."""
    with pytest.raises(InvalidToolOption) as caught:
        _ = tool(**options)(work).compiled

    assert caught.value.message.startswith("tests/authoring/test_options.py:")
    assert caught.value.message.endswith(f": tool 'work': {expected}")


@pytest.mark.parametrize("value", ["yes", 1, None, 0.0], ids=repr)
@pytest.mark.parametrize("option", ["is_enabled", "requires_approval"])
def test_a_switch_is_a_bool_or_a_function(option: str, value: Any) -> None:
    """A text such as "no" would turn it on otherwise."""
    with pytest.raises(InvalidToolOption, match=rf"tool 'work': option `{option}"):
        tool(**{option: value})(work)


def test_a_schema_that_cannot_be_strict_is_refused_where_it_has_to_be() -> None:
    """The reason and the way out are said."""

    @tool(strict=True)
    def free(keys: dict[str, int]) -> str:
        """Take free keys."""
        return str(keys)

    with pytest.raises(SchemaInferenceError) as caught:
        _ = free.compiled

    assert caught.value.message.endswith(
        "tool 'free': has strict=True, but cannot be said strictly:"
        " keys: strict mode has no objects with free keys (dict, **kwargs). Leave it out."
    )


class Callable3:
    """Be called with three arguments."""

    def __call__(self, first: Any, second: Any, third: Any) -> None:
        """Take them."""


@pytest.mark.parametrize(
    ("function", "counts"),
    [
        (lambda: None, [0]),
        (lambda _: None, [1]),
        (lambda _, __=2: None, [1, 2]),
        (lambda *_: None, [0, 1, 2, 3]),
        (lambda _, **__: None, [1]),
        (lambda _, *, __: None, []),
        (lambda _, /, *, __=2: None, [1]),
        (functools.partial(lambda _, __: None, 1), [1]),
        (Callable3(), [3]),
        (dict.get, [2, 3]),
        # a function in C that does not say what it takes is taken at its author's word
        (max, [0, 1, 2, 3]),
    ],
)
def test_it_is_known_how_many_arguments_a_function_takes(function: Any, counts: list[int]) -> None:
    """Positional ones, without calling it."""
    assert [count for count in range(4) if takes(function, count)] == counts
