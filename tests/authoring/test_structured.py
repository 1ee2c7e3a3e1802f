"""Tools made from functions, as LangChain makes them."""

import functools
from typing import Any

import pytest
from pydantic import BaseModel, Field

from app import StructuredTool, Tool
from app.core.errors import InvalidToolOption


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
            "functools.partial: this callable has no name of its own; give one: name='...'.",
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
    """Called as LangChain calls it, whatever the function's parameter is called."""
    assert made.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {"__arg1": {"type": "string"}},
        "required": ["__arg1"],
    }
    assert await made.ainvoke({"__arg1": "a"}) == answer


def test_a_single_input_tool_can_be_called_and_reads_the_docstring() -> None:
    """The wrapper around the function is not what is documented."""
    made = Tool("shout", shout)

    assert made("a") == "A"
    assert made.compiled.description == "Shout."
    assert made.compiled.source.startswith("tests/authoring/test_structured.py:")
