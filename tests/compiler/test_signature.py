"""Annotations are resolved wherever they can be, and written as text too."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from sidecall import InjectedState, ToolContext, tool
from sidecall.kernel.core.errors import SchemaInferenceError


class City(BaseModel):
    """A city."""

    name: str


def _schema(offered: Any) -> dict[str, Any]:
    return offered.compiled.args_schema.flat


def test_annotations_written_as_text_are_resolved_in_the_module() -> None:
    """The whole of this file is written with such annotations."""

    @tool
    def go(to: City, how: Literal["train", "bike"] = "train", stops: Annotated[int, Field(ge=0)] = 0) -> str:
        """Go."""
        return to.name

    assert _schema(go) == {
        "type": "object",
        "properties": {
            "to": {
                "description": "A city.",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
                "type": "object",
            },
            "how": {"default": "train", "enum": ["train", "bike"], "type": "string"},
            "stops": {"default": 0, "minimum": 0, "type": "integer"},
        },
        "required": ["to"],
    }


def test_annotations_written_as_text_are_resolved_in_the_closure() -> None:
    """A type of an enclosing function counts when the function uses it."""

    class Local(BaseModel):
        size: int

    @tool
    def measure(it: Local) -> Local:
        """Measure."""
        return Local(size=it.size + 1)

    assert _schema(measure)["properties"]["it"] == {
        "properties": {"size": {"type": "integer"}},
        "required": ["size"],
        "type": "object",
    }


def test_markers_written_as_text_hide_their_parameters() -> None:
    """ToolContext and Injected* are found in resolved annotations."""

    @tool
    def go(q: str, user: Annotated[str, InjectedState("user")], ctx: ToolContext | None = None) -> str:
        """Go."""
        return user

    assert list(_schema(go)["properties"]) == ["q"]


def test_an_unresolvable_annotation_of_a_parameter_names_file_tool_and_type() -> None:
    """The author learns at the start what to import."""

    def go(to: Nowhere) -> str:  # type: ignore[name-defined]  # noqa: F821  what is being refused
        """Go."""
        return "x"

    with pytest.raises(SchemaInferenceError) as caught:
        _ = tool(go).compiled

    assert "tests/compiler/test_signature.py:" in caught.value.message
    assert (
        ": tool 'go': name 'Nowhere' is not defined, in the annotation of a parameter."
        " Write Nowhere at the top level of the module, or import it there: " in caught.value.message
    )


def test_an_unresolvable_return_annotation_only_costs_the_output_schema() -> None:
    """Nothing that a call needs depends on it."""

    @tool
    def go(to: str) -> Nowhere:  # type: ignore[name-defined]  # noqa: F821  what is being forgiven
        """Go."""
        return to

    assert go.compiled.output_schema is None
    assert _schema(go)["required"] == ["to"]


def test_a_wrapped_function_is_read_through_its_wrapper() -> None:
    """functools.wraps keeps signature, annotations and docstring."""

    def shout(function: Callable[..., str]) -> Callable[..., str]:
        @functools.wraps(function)
        def wrapper(*args: Any, **kwargs: Any) -> str:
            return function(*args, **kwargs).upper()

        return wrapper

    @tool
    @shout
    def greet(name: str, times: int = 1) -> str:
        """Greet."""
        return name * times

    assert _schema(greet)["properties"] == {"name": {"type": "string"}, "times": {"default": 1, "type": "integer"}}
    assert greet.invoke({"name": "a", "times": 2}) == "AA"


class Doubler:
    """Double things."""

    def __call__(self, number: int) -> int:
        """Double it."""
        return number * 2

    def method(self, number: int) -> int:
        """Double it by name."""
        return number * 2

    @classmethod
    def of_class(cls, number: int) -> int:
        """Double it by class."""
        return number * 2

    @staticmethod
    def of_unknown(number: int) -> int:
        """Double it by itself."""
        return number * 2


@pytest.mark.parametrize(
    "function",
    [
        pytest.param(Doubler(), id="object with __call__"),
        pytest.param(Doubler().method, id="bound method"),
        pytest.param(Doubler.of_class, id="class method"),
        pytest.param(Doubler.of_unknown, id="static method"),
    ],
)
async def test_any_callable_can_be_a_tool(function: Callable[..., int]) -> None:
    """`self` and `cls` are not parameters."""
    double = tool("double")(function)

    assert _schema(double) == {
        "type": "object",
        "properties": {"number": {"type": "integer"}},
        "required": ["number"],
    }
    assert await double.ainvoke({"number": "21"}) == 42


def test_what_functools_partial_has_filled_is_no_parameter() -> None:
    """The rest is read from the function below."""
    greet = tool("greet")(functools.partial(lambda greeting, name: f"{greeting} {name}", "Hello"))

    assert list(_schema(greet)["properties"]) == ["name"]
    assert greet.invoke({"name": "Bo"}) == "Hello Bo"


def test_a_builtin_without_annotations_can_be_a_tool() -> None:
    """Its parameters take any JSON value."""
    size = tool("size", description="Count.")(len)

    assert _schema(size) == {"type": "object", "properties": {"obj": {}}, "required": ["obj"]}
    assert size.invoke({"obj": [1, 2, 3]}) == 3
