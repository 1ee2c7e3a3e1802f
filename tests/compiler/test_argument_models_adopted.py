"""An author's own model can be told to refuse unknown arguments."""

from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from sidecall import BaseTool, tool
from sidecall.kernel.core.errors import InvalidToolOption
from tests.kit.calls import run


class Person(BaseModel):
    """Somebody, who knows others."""

    name: str = Field(min_length=2)
    friends: list["Person"] = []

    @model_validator(mode="after")
    def _is_not_lonely(self) -> "Person":
        if self.name == "Crusoe":
            raise ValueError("has to have friends")
        return self


class Closed(BaseModel):
    """A model that is closed already."""

    model_config = ConfigDict(extra="forbid")

    a: int = 0


class Open(BaseModel):
    """A model that takes anything."""

    model_config = ConfigDict(extra="allow")

    a: int = 0


@tool(args_schema=Person, unknown_args="forbid")
def greet(name: str, friends: list[Person]) -> str:
    """Greet."""
    return f"{name} {friends!r}"


async def _content(made: BaseTool, args: dict[str, Any]) -> Any:
    message = await run(made, args)
    return message.content


@pytest.mark.parametrize(
    ("args", "content"),
    [
        ({"name": "Ada", "zz": 1}, "zz: There is no such argument; the arguments are: friends, name"),
        # with every other mistake
        (
            {"name": "A", "zz": 1},
            "zz: There is no such argument; the arguments are: friends, name\n"
            "name: Input should be a string, at least 2 characters",
        ),
        ({"name": "Crusoe"}, "arguments: has to have friends"),
    ],
)
async def test_unknown_arguments_are_refused(args: dict[str, Any], content: str) -> None:
    """Of the tool, while objects inside stay as open as their models are."""
    assert await _content(greet, args) == content


def test_the_schema_says_so() -> None:
    """And keeps the model's own name for what is inside."""
    schema = greet.compiled.args_schema.flat

    assert schema["additionalProperties"] is False
    assert schema["properties"]["friends"]["items"] == {"$ref": "#/$defs/Person"}
    assert "additionalProperties" not in schema["$defs"]["Person"]


async def test_an_authors_handler_sees_the_models_own_name() -> None:
    """No matter what stands behind it."""

    def word(error: ValidationError) -> str:
        return error.title

    made = tool("greet", args_schema=Person, unknown_args="forbid", handle_validation_error=word)(greet.func)

    assert await _content(made, {}) == "Person"


async def test_a_model_that_is_closed_stays_as_it_is() -> None:
    """The option says the same once more."""

    @tool(args_schema=Closed, unknown_args="forbid")
    def take(a: int) -> int:
        """Take."""
        return a

    assert await _content(take, {"zz": 1}) == "zz: There is no such argument; the arguments are: a"


def test_a_model_that_takes_anything_cannot_be_closed() -> None:
    """One of the two is a mistake."""

    def take(**given: Any) -> Any:
        """Take."""

    with pytest.raises(InvalidToolOption) as caught:
        _ = tool(args_schema=Open, unknown_args="forbid")(take).compiled

    assert caught.value.message.endswith(
        ": tool 'take': unknown_args='forbid' and args_schema Open, whose extra='allow' takes any argument, contradict"
        " each other; leave one of them out."
    )
