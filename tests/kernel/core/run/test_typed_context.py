"""A tool says of what type its context is, and gets it so."""

from dataclasses import dataclass
from typing import Any, TypedDict

import pytest
from pydantic import BaseModel

from sidecall import RunContextWrapper, ToolContext, tool
from sidecall.kernel.core.errors import MissingContext, SchemaInferenceError


@dataclass
class Person:
    """A dataclass."""

    name: str
    age: int = 0


class Account(BaseModel):
    """A model."""

    name: str


class Row(TypedDict):
    """A TypedDict, of typing on every Python."""

    name: str


class Opaque:
    """What JSON cannot say."""


class Crashing(BaseModel):
    """A model whose code crashes."""

    name: str

    def model_post_init(self, _context: Any, /) -> None:
        """Crash."""
        raise RuntimeError(self.name)


def _see(wanted: Any) -> Any:
    async def see(ctx: RunContextWrapper[wanted]) -> Any:  # type: ignore[valid-type]
        """See the context."""
        return ctx.context

    return tool(see)


@pytest.mark.parametrize(
    ("wanted", "sent", "expected"),
    [
        (Person, {"name": "Ada", "age": "36"}, Person("Ada", 36)),
        (Account, {"name": "Ada", "other": 1}, Account(name="Ada")),
        (Row, {"name": "Ada", "other": 1}, {"name": "Ada", "other": 1}),
        (dict[str, int], {"a": "1"}, {"a": 1}),
        (Person | None, {}, None),
        (Person | None, {"name": "Ada"}, Person("Ada")),
        (None, {"name": "Ada"}, None),
        (Any, {"name": 1}, {"name": 1}),
    ],
    ids=str,
)
async def test_the_context_becomes_what_the_tool_wants(wanted: Any, sent: Any, expected: Any) -> None:
    """Of a TypedDict other keys stay."""
    assert await _see(wanted).ainvoke({}, context=sent) == expected


@pytest.mark.parametrize(
    ("wanted", "sent", "reason"),
    [
        (Person, {}, "The tool needs `context.name` beside the call."),
        (Person, {"name": "Ada", "age": "x"}, "The tool cannot use what was sent as `context.age`: "),
        (Row, {}, "The tool needs `context.name` beside the call."),
    ],
)
async def test_a_context_that_does_not_fit_is_the_programs_error(wanted: Any, sent: Any, reason: str) -> None:
    """The model could not mend it."""
    with pytest.raises(MissingContext) as caught:
        await _see(wanted).ainvoke({}, context=sent)

    assert caught.value.message.startswith(reason)


async def test_a_validator_that_crashes_is_the_tools_failure() -> None:
    """Nobody could have sent anything else; a program that calls the tool gets what was raised."""
    with pytest.raises(RuntimeError, match=r"^Ada$"):
        await _see(Crashing).ainvoke({}, context={"name": "Ada"})


def test_a_context_that_no_request_can_have_stops_the_start() -> None:
    """With what to do about it."""
    with pytest.raises(SchemaInferenceError, match=r"cannot be made a Opaque: .* Make it a dataclass or a pydantic"):
        _ = _see(Opaque).compiled


async def test_a_context_without_a_type_is_left_as_it_was_sent() -> None:
    """With all that a tool may ask, in the words of the OpenAI Agents SDK too."""

    @tool
    async def see(ctx: ToolContext, a: int) -> Any:
        """See the call."""
        return [ctx.context, ctx.tool_arguments, ctx.args, ctx.qualified_tool_name, ctx.approved, ctx.usage.requests, a]

    call = {"type": "tool_call", "name": "see", "args": '{"a": "1"}', "id": "c"}
    message = await see.ainvoke(call, context={"x": 1}, approved=True)

    assert message.content == '[{"x": 1}, "{\\"a\\": \\"1\\"}", "{\\"a\\": \\"1\\"}", "see", true, 0, 1]'
