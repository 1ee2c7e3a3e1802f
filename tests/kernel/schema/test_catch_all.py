"""The arguments of `**kwargs` are taken beside the others, and inside one object of its name."""

from typing import Annotated, Any

import pytest
from pydantic import Field

from sidecall import BaseTool, InjectedState, tool
from tests.kit.calls import run

UNFOLDED = "options: its members stand beside the other arguments"


@tool
def typed(a: int = 0, /, b: int = 0, **options: int) -> Any:
    """Take integers."""
    return [a, b, options]


@tool
def untyped(a: int = 0, **options) -> Any:  # type: ignore[no-untyped-def]
    """Take anything."""
    return [a, options]


@tool
def mapping(**options: dict[str, int]) -> Any:
    """Take objects of integers."""
    return options


@tool
def described(**options: Annotated[Any, Field(description="More")]) -> Any:
    """Take anything."""
    return options


@tool
def open_to_all(**options: object) -> Any:
    """Take anything."""
    return options


@pytest.mark.parametrize(
    ("made", "args", "content", "repaired"),
    [
        (typed, {"b": 1, "x": "2"}, '[0, 1, {"x": 2}]', []),
        (typed, {"b": 1, "options": {"x": "2"}}, '[0, 1, {"x": 2}]', [UNFOLDED]),
        (typed, {"options": {"x": 2}, "y": 3}, '[0, 0, {"y": 3, "x": 2}]', [UNFOLDED]),
        (typed, {"options": 5}, '[0, 0, {"options": 5}]', []),  # a free argument of that name
        (typed, {"options": {"options": 5}}, '[0, 0, {"options": 5}]', [UNFOLDED]),
        (typed, {"options": {}}, "[0, 0, {}]", [UNFOLDED]),
        (untyped, {"options": {"x": {"y": 1}}}, '[0, {"x": {"y": 1}}]', [UNFOLDED]),
        (untyped, {"options": [1]}, '[0, {"options": [1]}]', []),
        (described, {"options": {"x": 1}}, '{"x": 1}', [UNFOLDED]),
        (open_to_all, {"options": {"x": 1}}, '{"x": 1}', [UNFOLDED]),
        (mapping, {"options": {"x": 1}}, '{"options": {"x": 1}}', []),  # fits as one free argument
        (mapping, {"options": {"x": {"y": 1}}}, '{"x": {"y": 1}}', [UNFOLDED]),
    ],
)
async def test_both_forms_are_taken(made: BaseTool, args: dict[str, Any], content: str, repaired: list[str]) -> None:
    """We advertise the one, LangChain and the OpenAI Agents SDK the other."""
    message = await run(made, args)

    assert message.content == content
    assert message.response_metadata["repaired"] == repaired
    assert message.response_metadata["ignored_args"] == []


@pytest.mark.parametrize(
    ("args", "content"),
    [
        (
            {"x": 1, "options": {"x": 2}},
            "options.x: This is sent twice; send it once, beside the others or inside options",
        ),
        (
            {"b": 1, "options": {"b": 2}},
            "options.b: This is an argument of its own; send it beside the others, not inside options",
        ),
        # one that can only be given by position, too
        (
            {"options": {"a": 2}},
            "options.a: This is an argument of its own; send it beside the others, not inside options",
        ),
        ({"options": {"x": "canary"}}, "x: Input should be an integer"),
    ],
)
async def test_what_is_said_twice_is_refused(args: dict[str, Any], content: str) -> None:
    """Either of the two may have been meant."""
    message = await run(typed, args)

    assert message.content == content
    assert message.response_metadata["error"]["kind"] == "invalid_arguments"


async def test_a_refusal_can_be_told_apart_by_programs() -> None:
    """What is misplaced from what is repeated."""
    message = await run(typed, {"x": 1, "options": {"x": 2, "b": 3}})

    assert [error["type"] for error in message.response_metadata["error"]["errors"]] == [
        "repeated_argument",
        "misplaced_argument",
    ]


async def test_what_is_hidden_cannot_come_in_through_the_object() -> None:
    """It is dropped and reported, as anywhere."""

    @tool
    def take(user: Annotated[str, InjectedState("user")] = "nobody", **options: Any) -> Any:
        """Take."""
        return [user, options]

    message = await run(take, {"options": {"user": "forged", "x": 1}}, state={})

    assert message.content == '["nobody", {"x": 1}]'
    assert message.response_metadata["ignored_args"] == ["options.user"]


async def test_an_argument_may_go_by_that_name() -> None:
    """Then it is one of its own."""

    @tool
    def take(a: dict[str, int] = Field({}, alias="options"), **options: int) -> Any:  # noqa: B008
        """Take."""
        return [a, options]

    message = await run(take, {"options": {"x": 1}})

    assert message.content == '[{"x": 1}, {}]'


async def test_values_that_only_this_process_has_are_left_where_they_are() -> None:
    """They come with plain calls, not over HTTP."""

    @tool
    def take(**options: int) -> Any:
        """Take."""
        return list(options)

    message = await run(take, {"options": {"x": object()}})

    assert message.content == "x: Input should be an integer"


def test_the_schema_says_where_free_arguments_stand() -> None:
    """Those of any kind have no schema that could say it, unless the author described them."""
    assert typed.compiled.args_schema.flat["additionalProperties"] == {
        "description": "Further arguments, each under its own name beside the others.",
        "type": "integer",
    }
    assert described.compiled.args_schema.flat["additionalProperties"] == {
        "description": "More. Further arguments, each under its own name beside the others.",
    }
    assert untyped.compiled.args_schema.flat["additionalProperties"] is True


async def test_a_free_argument_may_be_called_as_a_positional_one() -> None:
    """In the object, as in the OpenAI Agents SDK."""

    @tool
    async def take(a: int, /, **rest: int) -> str:
        """Take."""
        return f"{a} {rest}"

    assert (await run(take, {"a": 1, "rest": {"a": 2, "b": 3}})).content == "1 {'b': 3, 'a': 2}"
    assert (await run(take, {"rest": {"a": 2}})).content.startswith("rest.a: This is an argument of its own")
