"""Options of the OpenAI Agents SDK's `function_tool` may keep their names."""

from collections.abc import Callable
from typing import Any

import pytest

from sidecall import FunctionTool, StructuredTool, Tool, ToolException, function_tool, tool
from sidecall.authoring.spellings import rename_options
from sidecall.kernel.core.errors import InvalidToolOption, SchemaInferenceError, ToolCallFailed
from sidecall.kernel.core.options import ToolOptions
from sidecall.kernel.ports.approvals.approval import ApprovalRequired


async def work(order: int) -> str:
    """Describe the work."""
    if order == 0:
        raise ToolException("closed")
    return f"worked on {order}"


def word(context: Any, error: Exception) -> str:
    """Word an error."""
    return f"worded: {error}"


def test_a_tool_can_be_renamed_and_described_anew() -> None:
    """`name_override` and `description_override`."""
    compiled = tool(name_override="job", description_override="Do it.")(work).compiled

    assert (compiled.name, compiled.description) == ("job", "Do it.")


async def test_approval_may_be_asked_for_under_another_name() -> None:
    """`needs_approval`, with a function of the context, the arguments and the call's id."""
    always = tool(needs_approval=True)(work)
    sometimes = tool(needs_approval=lambda _context, args, _call_id: args["order"] > 7)(work)

    with pytest.raises(ApprovalRequired):
        await always.ainvoke({"order": 1})
    with pytest.raises(ApprovalRequired):
        await sometimes.ainvoke({"order": 8})
    assert await sometimes.ainvoke({"order": 7}) == "worked on 7"


def test_strictness_may_be_asked_for_under_another_name() -> None:
    """`strict_mode`; what cannot be strict is refused."""

    def free(keys: dict[str, int]) -> str:
        """Take free keys."""
        return str(keys)

    assert tool(strict_mode=True)(work).compiled.options.strict is True
    assert tool(strict_mode=False)(free).compiled.options.strict is False
    with pytest.raises(SchemaInferenceError):
        _ = tool(strict_mode=True)(free).compiled


async def test_a_failure_function_of_none_lets_failures_through() -> None:
    """Left out it means a text, as there."""
    with pytest.raises(ToolCallFailed) as caught:
        await tool(failure_error_function=None)(work).ainvoke({"order": 0})
    kept = await tool(failure_error_function=word)(work).ainvoke({"type": "tool_call", "args": {"order": 0}})

    assert caught.value.message == "closed"
    assert kept.content == "worded: closed"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, {}),
        ({"timeout_behavior": "raise_exception"}, {"timeout_behavior": "raise"}),
        ({"timeout_behavior": "raise"}, {"timeout_behavior": "raise"}),
        ({"timeout_behavior": "error_as_result"}, {"timeout_behavior": "error_as_result"}),
        ({"failure_error_function": None}, {"handle_tool_error": None}),
        # an explicit word of ours stands
        ({"failure_error_function": None, "handle_tool_error": "Later."}, {"handle_tool_error": "Later."}),
        ({"failure_error_function": word}, {"failure_error_function": word}),
        ({"docstring_style": "google", "use_docstring_info": False}, ...),
        ({"nope": 1}, ...),
    ],
)
def test_options_are_said_in_our_words(given: dict[str, Any], expected: Any) -> None:
    """Those that are the same, or unknown, stay."""
    before = dict(given)

    assert rename_options(given) == (given if expected is ... else expected)
    assert given == before


@pytest.mark.parametrize(
    ("own", "other", "value"),
    [
        ("name", "name_override", "job"),
        ("description", "description_override", "Do it."),
        ("strict", "strict_mode", True),
        ("requires_approval", "needs_approval", True),
        ("timeout", "timeout_seconds", 3.0),
    ],
)
@pytest.mark.parametrize("turned", [False, True], ids=["ours first", "theirs first"])
def test_an_option_under_both_names_is_refused(own: str, other: str, value: Any, turned: bool) -> None:
    """It is not clear which one counts, even if they agree."""
    options = dict(sorted({own: value, other: value}.items(), reverse=turned))

    with pytest.raises(InvalidToolOption) as caught:
        tool(**options)(work)

    assert caught.value.message == f"@tool was given `{own}` twice; `{other}` is another name of it."


def test_a_name_in_two_places_is_refused() -> None:
    """One of them is too much."""
    with pytest.raises(InvalidToolOption, match="takes one name"):
        tool("job", name_override="work")


def test_an_option_of_theirs_that_means_nothing_here_is_refused() -> None:
    """With those that exist; it would be silent otherwise."""
    with pytest.raises(InvalidToolOption, match="there is no option `defer_loading`; the options are: "):
        tool(defer_loading=True)(work)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("time_out", "timeout"),
        ("tiemout", "timeout"),
        ("timeOut", "timeout"),
        ("timeout_s", "timeout"),
        ("tag", "tags"),
        ("require_approval", "requires_approval"),
        ("need_approval", "requires_approval"),
        ("retries", "retry"),
        ("descripton", "description"),
        ("args_shema", "args_schema"),
        ("handle_error", "handle_tool_error"),
        ("strict_mod", "strict"),
        ("nme", "name"),
    ],
)
@pytest.mark.parametrize(
    "make",
    [
        lambda options: tool(**options)(work),
        lambda options: tool("other", **options)(work),
        lambda options: function_tool(**options)(work),
        lambda options: StructuredTool.from_function(work, **options),
    ],
    ids=["tool", "a named tool", "function_tool", "from_function"],
)
def test_a_misspelt_option_is_refused_with_the_one_that_was_meant(
    make: Callable[[dict[str, Any]], object], written: str, meant: str
) -> None:
    """Wherever options are given."""
    with pytest.raises(
        InvalidToolOption, match=f"there is no option `{written}`; did you mean {meant}\\? The options are"
    ):
        make({written: 1})


SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("make", "written", "meant"),
    [
        (lambda: StructuredTool(name="x", funct=work), "funct", "func"),
        (lambda: StructuredTool(name="x", func=work, coroutin=work), "coroutin", "coroutine"),
        (lambda: StructuredTool.from_function(work, corutine=work), "corutine", "coroutine"),
        (lambda: Tool(name="x", function=work, description="Work."), "function", "func"),
        (lambda: FunctionTool("x", "Work.", param_json_schema=SCHEMA), "param_json_schema", "params_json_schema"),
        (lambda: FunctionTool("x", "Work.", SCHEMA, on_invoke=work), "on_invoke", "on_invoke_tool"),
        (lambda: FunctionTool("x", "Work.", SCHEMA, work, need_approval=True), "need_approval", "requires_approval"),
    ],
)
def test_a_misspelt_argument_of_a_class_is_refused_likewise(
    make: Callable[[], object], written: str, meant: str
) -> None:
    """The function that was to be given is named, too."""
    with pytest.raises(InvalidToolOption, match=f"there is no option `{written}`; did you mean {meant}\\? The options"):
        make()


@pytest.mark.parametrize(("written", "meant"), [("contexts", "context"), ("aproved", "approved"), ("stor", "store")])
def test_what_comes_beside_a_call_is_spelt_as_well(written: str, meant: str) -> None:
    """It was left out without a word."""
    with pytest.raises(
        InvalidToolOption, match=f"nothing called `{written}` comes beside a call; did you mean {meant}"
    ):
        tool(work).invoke({}, **{written: {}})  # type: ignore[misc]


def test_a_tool_without_options_is_an_ordinary_one() -> None:
    """The decorator adds none of its own."""
    assert tool(work).compiled.options == ToolOptions()
