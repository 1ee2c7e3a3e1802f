"""A tool is compiled once, and its author hears of mistakes then."""

import datetime
from typing import Any

import pytest
from pydantic import BaseModel, Field

from sidecall import BaseTool, tool
from sidecall.kernel.core.errors import InvalidToolName


class Answer(BaseModel):
    """An answer."""

    text: str = Field(alias="theText")
    when: datetime.date | None = None


class Tree(BaseModel):
    """A tree."""

    children: list["Tree"]


class Opaque:
    """What JSON cannot say."""


def _returning(annotation: Any, **options: Any) -> BaseTool:
    def take() -> None:
        """Take."""

    take.__annotations__["return"] = annotation
    return tool("take", **options)(take)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("two words", id="space"),
        pytest.param("naïve", id="not ASCII"),
        pytest.param("a.b", id="dot"),
        pytest.param("x" * 65, id="too long"),
        pytest.param("ok\n", id="newline at the end"),
    ],
)
def test_a_name_that_a_provider_refuses_fails_the_start(name: str) -> None:
    """The message names the file and says how to give another."""
    with pytest.raises(InvalidToolName) as caught:
        _ = tool(name, description="d")(lambda: None).compiled

    assert caught.value.message.startswith("tests/compiler/test_compile.py:")
    assert caught.value.message.endswith(
        f": tool {name!r}: The name of a tool must match ^[a-zA-Z0-9_-]{{1,64}}$."
        " Rename it, or give a name: @tool('good_name')."
    )


@pytest.mark.parametrize("name", ["a", "A-b_9", "x" * 64])
def test_a_name_that_every_provider_takes_is_kept(name: str) -> None:
    """Letters, digits, underscores and hyphens."""
    assert tool(name, description="d")(lambda: None).compiled.name == name


@pytest.mark.parametrize(
    ("annotation", "options", "expected"),
    [
        (int, {}, {"type": "integer"}),
        (None, {}, {"type": "null"}),
        (dict[str, int], {}, {"additionalProperties": {"type": "integer"}, "type": "object"}),
        (
            Answer,
            {},
            {
                "description": "An answer.",
                "properties": {
                    "theText": {"type": "string"},
                    "when": {"anyOf": [{"format": "date", "type": "string"}, {"type": "null"}], "default": None},
                },
                "required": ["theText"],
                "type": "object",
            },
        ),
        # says nothing
        (Any, {}, None),
        # cannot be said
        (Opaque, {}, None),
        # the content is the first of the pair
        (tuple[str, Opaque], {"response_format": "content_and_artifact"}, {"type": "string"}),
        (tuple, {"response_format": "content_and_artifact"}, None),
        (str, {"response_format": "content_and_artifact"}, None),
    ],
)
def test_the_return_annotation_is_the_output_schema(
    annotation: Any, options: dict[str, Any], expected: dict[str, Any] | None
) -> None:
    """None where it says nothing that JSON Schema can."""
    assert _returning(annotation, **options).compiled.output_schema == expected


def test_a_recursive_output_keeps_its_definition() -> None:
    """It cannot be put in place."""
    assert _returning(list[Tree]).compiled.output_schema == {
        "items": {"$ref": "#/$defs/Tree"},
        "type": "array",
        "$defs": {
            "Tree": {
                "description": "A tree.",
                "properties": {"children": {"items": {"$ref": "#/$defs/Tree"}, "type": "array"}},
                "required": ["children"],
                "type": "object",
            }
        },
    }


def test_the_docstring_gives_the_description_and_is_checked_against_the_signature() -> None:
    """A name that is no parameter is a note, not a refusal."""

    @tool
    def search(query: str) -> str:
        """Search the web.

        All of it.

        Args:
            query: What for.
            limit: How many.
        """
        return query

    assert search.compiled.description == "Search the web.\n\nAll of it."
    assert search.compiled.args_schema.flat["properties"]["query"]["description"] == "What for."
    assert search.compiled.notes == ("the docstring describes `limit`, which is not a parameter",)


def test_a_description_of_its_own_beats_the_docstring() -> None:
    """The parameters' texts still come from there."""

    @tool(description="Find.")
    def search(query: str) -> str:
        """Search the web.

        Args:
            query: What for.
        """
        return query

    assert search.compiled.description == "Find."
    assert search.compiled.args_schema.flat["properties"]["query"]["description"] == "What for."


async def _asynchronous() -> None:
    """Do nothing."""


def _synchronous() -> None:
    """Do nothing."""


class _Callable:
    """Do nothing."""

    async def __call__(self) -> None:
        """Do nothing."""


@pytest.mark.parametrize(
    ("function", "options", "is_async", "executor"),
    [
        (_asynchronous, {}, True, "inline"),
        (_synchronous, {}, False, "thread"),
        (_Callable(), {}, True, "inline"),
        # as the author says
        (_synchronous, {"executor": "inline"}, False, "inline"),
        (_asynchronous, {"executor": "thread"}, True, "thread"),
    ],
)
def test_sync_functions_get_a_thread(function: Any, options: dict[str, Any], is_async: bool, executor: str) -> None:
    """Unless their author promises that they are quick."""
    compiled = tool("t", **options)(function).compiled

    assert (compiled.is_async, compiled.executor) == (is_async, executor)


def test_options_are_kept() -> None:
    """They are part of what a client is told."""
    compiled = tool(
        "t", description="d", tags=["a", "b"], metadata={"k": 1}, return_direct=True, timeout=3, unknown_args="forbid"
    )(_synchronous).compiled

    assert (compiled.options.tags, compiled.options.metadata) == (("a", "b"), {"k": 1})
    assert (compiled.options.return_direct, compiled.options.timeout) == (True, 3.0)
    assert (compiled.options.response_format, compiled.options.unknown_args) == ("content", "forbid")
