"""A class in the place of a function is offered where its objects are answers."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, TypedDict

import pytest
from pydantic import BaseModel

from sidecall import BaseTool, BaseToolkit, tool
from sidecall.kernel.core.errors import DefinitionError


class Silent:
    """Say nothing."""

    def __init__(self, x: int) -> None:
        self.x = x

    def __call__(self, y: int) -> int:
        """Add."""
        return self.x + y


class Told(Silent):
    """Say itself."""

    def __str__(self) -> str:
        return f"x={self.x}"


class Counted(Silent):
    """Be read."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.x))


class Made(Silent):
    """Be a text."""

    def __new__(cls, x: int) -> Any:
        """Make a text."""
        return str(x)


@dataclass
class Point:
    """A point."""

    x: int


class Model(BaseModel):
    """A model."""

    x: int


class Pair(NamedTuple):
    """A pair."""

    x: int


class Typed(TypedDict):
    """A dict."""

    x: int


class Listed(list[int]):
    """A list."""

    def __init__(self, x: int) -> None:
        super().__init__([x])


class Greet(BaseTool):
    """Greet."""

    name: str = "greet"

    def _run(self) -> str:
        return "hello"


class Kit(BaseToolkit):
    """Tools."""

    def get_tools(self) -> list[BaseTool]:
        """List none."""
        return []


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (
            Silent,
            "tool 'Silent' is the class Silent: each call would make an object of it, which JSON cannot say. Offer an"
            " instance that has `__call__`, tool(Silent(...)), or write a subclass of BaseTool with `_run`.",
        ),
        (Greet, "is the class Greet; offer an instance of it: leave @tool out, and write greet = Greet()."),
        (Kit, "is the class Kit; offer an instance of it: leave @tool out, and write kit = Kit()."),
    ],
)
def test_a_class_whose_calls_can_have_no_answer_is_refused(kind: Any, complaint: str) -> None:
    """With what to write in its place."""
    with pytest.raises(DefinitionError, match=re.escape(complaint)):
        assert tool(kind).compiled

    assert tool(Silent(2)).invoke({"y": 1}) == 3


@pytest.mark.parametrize("kind", [Told, Counted, Made, Point, Model, Pair, Listed])
def test_a_class_whose_objects_can_be_said_is_offered(kind: Any) -> None:
    """As it was written."""
    assert list(tool(kind).compiled.args_schema.flat["properties"]) == ["x"]


def test_a_class_of_dicts_needs_a_name_only() -> None:
    """Its arguments are said by its annotations."""
    assert tool("typed", description="Type.")(Typed).name == "typed"
