"""Tools made from functions, as LangChain makes them."""

import functools
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pytest
from pydantic import BaseModel, Field

from sidecall import StructuredTool, Tool, tool
from sidecall.kernel.core.errors import InvalidToolOption


def add(a: int, b: int = 1) -> int:
    """Add.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


async def aadd(a: int, b: int = 1) -> int:
    """Add asynchronously."""
    return a + b + 100


def shout(text: str) -> str:
    """Shout."""
    return text.upper()


async def ashout(anything: str) -> str:
    """Shout asynchronously."""
    return f"{anything}!"


class Small(BaseModel):
    """Arguments."""

    a: int = Field(le=3)
    b: int = 2


def test_a_function_becomes_a_tool_of_its_name() -> None:
    """With its docstring and its signature."""
    made = StructuredTool.from_function(add)

    assert (made.name, made.compiled.description) == ("add", "Add.")
    assert made.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {
            "a": {"description": "The first.", "type": "integer"},
            "b": {"default": 1, "description": "The second.", "type": "integer"},
        },
        "required": ["a"],
    }
    assert made.invoke({"a": 1}) == 2


def test_everything_about_it_can_be_said() -> None:
    """In LangChain's words."""
    made = StructuredTool.from_function(
        func=add, name="plus", description="Sum up.", args_schema=Small, return_direct=True
    )

    assert (made.name, made.compiled.description, made.compiled.options.return_direct) == ("plus", "Sum up.", True)
    assert made.invoke({"a": 3}) == 5


def test_of_function_and_coroutine_the_coroutine_serves_and_the_function_is_called() -> None:
    """An event loop runs the one, the author's own code the other, which gives name and description."""
    made = StructuredTool.from_function(add, aadd)

    assert (made.name, made.compiled.is_async, made.compiled.description) == ("add", True, "Add.")
    assert made.invoke({"a": 1}) == 102
    assert made(1) == 2


def test_a_coroutine_alone_is_enough() -> None:
    """And is what a plain call gives."""
    made = StructuredTool.from_function(coroutine=aadd)

    assert made.invoke({"a": 1}) == 102


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (StructuredTool.from_function, "Function and/or coroutine must be provided"),
        (
            lambda: StructuredTool(name="x").compiled,
            "Tool 'x' has to be given a function: func=... or coroutine=...",
        ),
        (lambda: Tool("x").compiled, "Tool 'x' has to be given a function: func=... or coroutine=..."),
        (lambda: Tool("x")("text"), "Tool 'x' has to be given a function: func=... or coroutine=..."),
        (
            lambda: StructuredTool.from_function(functools.partial(add, 1)),
            "tests/authoring/test_structured_tool.py:15: this callable has no name of its own; give one: name='...'.",
        ),
    ],
)
def test_what_is_missing_is_said(make: Any, expected: str) -> None:
    """To the author, at the start."""
    with pytest.raises(InvalidToolOption) as caught:
        make()

    assert caught.value.message == expected


@pytest.mark.parametrize(
    ("made", "answer"),
    [
        pytest.param(Tool("shout", shout, "Shout."), "A", id="sync"),
        pytest.param(Tool("shout", ashout, "Shout."), "a!", id="async"),
        pytest.param(Tool("shout", description="Shout.", coroutine=ashout), "a!", id="coroutine"),
    ],
)
async def test_a_single_input_tool_shows_the_model_one_text(made: Tool, answer: str) -> None:
    """Called as LangChain calls it, no matter what the function's parameter is called."""
    assert made.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {"__arg1": {"type": "string"}},
        "required": ["__arg1"],
    }
    assert await made.ainvoke({"__arg1": "a"}) == answer


class Adder:
    """Add to something."""

    def __init__(self, base: int) -> None:
        self.base = base

    def __call__(self, a: int) -> int:
        """Add to the base.

        Args:
            a: What to add.
        """
        return self.base + a


class Waiter:
    """Wait for what is asked for."""

    async def __call__(self, a: int) -> int:  # noqa: D102  its class says it
        return a


@dataclass
class Point:
    """Make a point."""

    x: int
    y: int = 0


@pytest.mark.parametrize(
    ("made", "description", "is_async", "answer"),
    [
        pytest.param(tool("add")(Adder(2)), "Add to the base.", False, 3, id="object"),
        pytest.param(tool("wait")(Waiter()), "Wait for what is asked for.", True, 1, id="async object"),
        pytest.param(tool(lru_cache(add)), "Add.", False, 2, id="decorated in C"),
    ],
)
def test_any_callable_becomes_a_tool(made: StructuredTool, description: str, is_async: bool, answer: int) -> None:
    """What its `__call__` says describes it, else its class."""
    assert (made.compiled.description, made.compiled.is_async) == (description, is_async)
    assert made.invoke({"a": 1}) == answer


def test_a_class_becomes_a_tool() -> None:
    """Which makes instances."""
    point = tool("point")(Point)

    assert point.compiled.description == "Make a point."
    assert point.invoke({"x": "1"}) == Point(1, 0)


def test_a_single_input_tool_can_be_called_and_reads_the_docstring() -> None:
    """The wrapper around the function is not what is documented."""
    made = Tool("shout", shout)

    assert made("a") == "A"
    assert made.compiled.description == "Shout."
    assert made.compiled.source.startswith("tests/authoring/test_structured_tool.py:")


def test_a_method_of_a_type_written_in_c_takes_a_text() -> None:
    """It needs no instance: the text is one."""
    made = Tool("shout", str.upper, "Shout.")

    assert made.invoke({"__arg1": "a"}) == "A"
