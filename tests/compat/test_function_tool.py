"""Function tools are written as the OpenAI Agents SDK teaches, under its names."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest
from pydantic import BaseModel

from sidecall import (
    FunctionTool,
    RunContextWrapper,
    ToolContext,
    Usage,
    default_tool_error_function,
    function_tool,
    tool_namespace,
)
from sidecall.features.provider_formats.lint import lint_tool
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.kernel.schema.forms.definitions import render_definitions
from tests.kit.calls import run


@dataclass
class UserInfo:
    """What the program knows of its user."""

    name: str


@function_tool
async def fetch_user_age(wrapper: RunContextWrapper[UserInfo], verbose: bool = False) -> str:
    """Fetch the age of the user.

    Args:
        verbose: Whether to say more.
    """
    return f"The user {wrapper.context.name} is 47 years old{'!' if verbose else ''}"


class Arguments(BaseModel):
    """The arguments of a tool that is made by hand."""

    username: str


async def greet(ctx: ToolContext[Any], text: str) -> str:
    """Greet."""
    return f"{ctx.tool_name}: {Arguments.model_validate_json(text).username}"


def make_by_hand(**options: Any) -> FunctionTool:
    """Make a tool as the SDK's documentation does."""
    return FunctionTool("greet", "Greet somebody.", Arguments.model_json_schema(), greet, **options)


async def test_a_decorated_function_is_a_tool_with_the_sdks_fields() -> None:
    """Its definition is strict, as there."""
    assert (await run(fetch_user_age, {"verbose": True}, context={"name": "Ada"})).content == (
        "The user Ada is 47 years old!"
    )
    assert (fetch_user_age.name, fetch_user_age.description) == ("fetch_user_age", "Fetch the age of the user.")
    assert (fetch_user_age.strict_json_schema, fetch_user_age.needs_approval) == (True, False)
    assert (fetch_user_age.timeout_seconds, fetch_user_age.qualified_name) == (None, "fetch_user_age")
    assert fetch_user_age.params_json_schema["required"] == ["verbose"]


async def test_a_tool_made_by_hand_is_given_json_text() -> None:
    """Once the arguments fit, and as a plain function when it is called."""
    made = make_by_hand(timeout_seconds=3, needs_approval=True)

    assert (await run(made, {"username": "Ada"}, approved=True)).content == "greet: Ada"
    assert (await run(made, {}, approved=True)).status == "error"
    assert (made.timeout_seconds, made.needs_approval, made.strict_json_schema) == (3, True, True)
    assert made.params_json_schema == Arguments.model_json_schema()


async def test_a_tool_can_be_run_as_the_sdk_runs_it() -> None:
    """By its arguments as JSON text."""
    context: ToolContext[Any] = ToolContext(tool_name="greet", tool_call_id="c1", context={"name": "Bo"})

    assert await make_by_hand().on_invoke_tool(context, '{"username": "Ada"}') == "greet: Ada"
    assert await fetch_user_age.on_invoke_tool(context, "") == "The user Bo is 47 years old"


def test_what_cannot_be_strict_is_offered_in_its_plain_form() -> None:
    """Unless somebody switches it off."""

    def free(keys: dict[str, int]) -> str:
        """Take free keys."""
        return str(keys)

    assert function_tool(free).compiled.options.strict is None
    assert function_tool(strict_mode=False)(free).compiled.options.strict is False


def test_options_for_the_provider_alone_are_listed() -> None:
    """In the form of the Responses API, which has a place for them."""

    def rate() -> int:
        """Rate."""
        return 1

    made = function_tool(defer_loading=True, allowed_callers=["programmatic"], output_type=int)(rate).compiled
    [listed] = render_definitions([made], "openai-responses")

    assert {name: listed[name] for name in ("defer_loading", "allowed_callers", "output_schema")} == {
        "defer_loading": True,
        "allowed_callers": ["programmatic"],
        "output_schema": {"type": "integer"},
    }


def test_what_is_asked_for_in_vain_is_said() -> None:
    """By `sidecall check`, with the line."""
    made = function_tool(custom_data_extractor=lambda _: {})(make_by_hand)

    [said] = made.compiled.unmet
    assert said.startswith("custom_data_extractor is not called")
    assert any("test_function_tool.py:" in it.message and said in it.message for it in lint_tool(made.compiled))


async def test_an_object_that_is_called_has_the_name_and_the_words_of_its_class() -> None:
    """As in the SDK."""

    class Greeter:
        """Greet people."""

        def __call__(self, name: str) -> str:
            """Greet.

            Args:
                name: Whom.
            """
            return f"hi {name}"

    made = function_tool(Greeter())

    assert (made.name, made.compiled.description) == ("Greeter", "Greet people.")
    assert made.compiled.args_schema.flat["properties"]["name"]["description"] == "Whom."
    assert (await run(made, {"name": "Ada"})).content == "hi Ada"


async def test_every_failure_can_have_the_same_words() -> None:
    """The SDK's."""

    @function_tool(failure_error_function=default_tool_error_function)
    async def crash() -> None:
        """Crash."""
        raise RuntimeError

    message = await run(crash)

    assert (message.content, message.status) == (
        "An error occurred while running the tool. Please try again.",
        "error",
    )


@pytest.mark.parametrize("thing", [fetch_user_age, 3])
def test_only_functions_are_decorated(thing: Any) -> None:
    """A tool is one already."""
    with pytest.raises(InvalidToolOption):
        function_tool(thing)


def test_usage_is_counted() -> None:
    """Of models that a tool asks itself."""
    usage = Usage(1, 2, 3, 5)
    usage.add(Usage(1, 1, 1, 2))

    assert usage == Usage(2, 3, 4, 7)


def test_tools_of_a_namespace_are_listed_together() -> None:
    """In the one form that has room for it, where the first of them stands; their names stay."""

    def make(name: str, **options: Any) -> FunctionTool:
        def work(order: int) -> str:
            """Work."""
            return str(order)

        return function_tool(name_override=name, **options)(work)

    first, second, third = make("find"), make("other"), make("refund", defer_loading=True)
    grouped = tool_namespace(name=" crm ", description="Customers.", tools=[first, third])
    compiled = [it.compiled for it in (first, second, third)]

    listed = render_definitions(compiled, "openai-responses")

    assert grouped == [first, third]
    assert [(it["type"], it["name"]) for it in listed] == [("namespace", "crm"), ("function", "other")]
    assert listed[0]["description"] == "Customers."
    assert [(it["name"], it.get("defer_loading")) for it in listed[0]["tools"]] == [("find", None), ("refund", True)]
    assert [it["function"]["name"] for it in render_definitions(compiled, "openai")] == ["find", "other", "refund"]
    assert (first.qualified_name, second.qualified_name) == ("crm.find", "other")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"name": " "}, "tool_namespace() needs a name and a description."),
        ({"description": ""}, "tool_namespace() needs a name and a description."),
        ({"tools": [len]}, "tool_namespace() groups tools, not builtin_function_or_method."),
        ({"name": "find"}, "tool 'find' is in another namespace, or has the name of this one."),
        ({"description": "Other."}, "tool 'find' is in another namespace, or has the name of this one."),
    ],
    ids=["no name", "no description", "a function", "its own name", "another"],
)
def test_what_cannot_be_grouped_is_refused(options: dict[str, Any], expected: str) -> None:
    """When the file is loaded."""

    @function_tool
    def find(order: int) -> str:
        """Find."""
        return str(order)

    given: dict[str, Any] = {"name": "crm", "description": "Customers.", "tools": [find]}
    tool_namespace(**given)

    with pytest.raises(InvalidToolOption) as caught:
        tool_namespace(**{**given, **options})

    assert caught.value.message == expected


async def test_it_is_invoked_with_the_context_of_the_sdk() -> None:
    """Which has no state and no store; an agent of the SDK runs the tool so."""
    ours = ToolContext(context=UserInfo("Ada"), tool_name="fetch_user_age", tool_call_id="1")
    names = ("context", "usage", "turn_input", "tool_input", "agent", "run_config", "tool_call", "tool_namespace")
    theirs: Any = SimpleNamespace(tool_call_id="1", **{name: getattr(ours, name) for name in names})

    assert await fetch_user_age.on_invoke_tool(theirs, '{"verbose": true}') == "The user Ada is 47 years old!"
