"""An object of a program in this process is the context of its tools, as it is."""

from dataclasses import dataclass
from typing import Annotated, Any

import pytest
from pydantic import BaseModel

from sidecall import InjectedToolArg, RunContextWrapper, ToolContext, function_tool, tool
from sidecall.kernel.core.errors import MissingContext
from tests.kit.calls import run


@dataclass
class User:
    """Who asks."""

    name: str


class Account(BaseModel):
    """What they have."""

    name: str


class Plain:
    """Neither of them."""

    def __init__(self) -> None:
        self.name = "Cy"


@function_tool
def typed(context: ToolContext[User]) -> str:
    """Say who."""
    context.context.name += "!"
    return context.context.name


@function_tool
def wrapped(context: RunContextWrapper[User]) -> str:
    """Say who."""
    return context.context.name


@tool
def untyped(context: ToolContext) -> str:
    """Say who."""
    held: Any = context.context
    return f"{held.name}"


@tool
def by_name(name: Annotated[str, InjectedToolArg]) -> str:
    """Say who."""
    return name


@pytest.mark.parametrize(
    ("offered", "context", "content"),
    [
        (typed, User("Ada"), "Ada!"),
        (wrapped, User("Ada"), "Ada"),
        (wrapped, {"name": "Ada"}, "Ada"),
        (untyped, Account(name="Bo"), "Bo"),
        (untyped, Plain(), "Cy"),
        (by_name, User("Ada"), "Ada"),
        (by_name, Account(name="Bo"), "Bo"),
        (by_name, Plain(), "Cy"),
    ],
)
async def test_a_tool_is_given_the_object(offered: Any, context: Any, content: str) -> None:
    """Or its fields, where it asks for these."""
    assert (await run(offered, {}, context=context)).content == content


async def test_what_the_tool_changes_is_changed() -> None:
    """It is no copy, and a config beside it takes nothing away."""
    user = User("Ada")

    await run(typed, {}, context=user, config={"configurable": {"a": 1}})

    assert user.name == "Ada!"


async def test_an_object_that_does_not_fit_is_refused() -> None:
    """As what comes over HTTP is."""
    with pytest.raises(MissingContext, match="The tool cannot use what was sent as `context`"):
        await run(typed, {}, context=Plain())
