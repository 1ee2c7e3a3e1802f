"""A tool tells about itself under LangChain's names."""

from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from sidecall import BaseTool, InjectedToolArg, StructuredTool, Tool, tool
from sidecall.kernel.core.errors import DefinitionError


@tool
def multiply(a: int, b: Annotated[int, "the second"] = 2, *, user: Annotated[str, InjectedToolArg] = "u") -> int:
    """Multiply two numbers.

    Args:
        a: The first.
    """
    return a * b


SHOWN = {
    "a": {"description": "The first.", "title": "A", "type": "integer"},
    "b": {"default": 2, "description": "the second", "title": "B", "type": "integer"},
}
HIDDEN = {"user": {"default": "u", "title": "User", "type": "string"}}


def test_an_inferred_schema_can_be_read() -> None:
    """With and without what the caller supplies, as in LangChain."""
    whole = multiply.get_input_jsonschema()

    assert (multiply.name, multiply.description) == ("multiply", "Multiply two numbers.")
    assert multiply.args == SHOWN
    assert multiply.tool_call_schema.model_json_schema()["properties"] == SHOWN
    assert whole == {
        "description": "Multiply two numbers.",
        "properties": SHOWN | HIDDEN,
        "required": ["a"],
        "title": "multiply",
        "type": "object",
    }
    assert multiply.args_schema.model_json_schema() == whole  # type: ignore[union-attr]
    assert multiply.get_output_jsonschema() == {"title": "multiply_output", "type": "integer"}
    assert not multiply.is_single_input


class Given(BaseModel):
    """What somebody has written."""

    query: str = Field(description="What to look for.")


def look_up(query: str) -> str:  # noqa: D103  What describes it is tried here.
    return query


JSON = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}


@pytest.mark.parametrize(
    ("made", "args_schema", "args", "description"),
    [
        (
            tool(args_schema=Given)(look_up),
            Given,
            {"query": {"description": "What to look for.", "title": "Query", "type": "string"}},
            "What somebody has written.",
        ),
        (
            tool(args_schema={**JSON, "description": "Of the schema."})(look_up),
            {**JSON, "description": "Of the schema."},
            JSON["properties"],
            "Of the schema.",
        ),
        (Tool("look_up", look_up, "Look up."), None, {"tool_input": {"type": "string"}}, "Look up."),
    ],
    ids=["model", "JSON Schema", "one text"],
)
def test_a_given_schema_is_shown(made: BaseTool, args_schema: Any, args: Any, description: str) -> None:
    """Its own words describe a tool that nothing else does."""
    assert made.args_schema == args_schema
    assert made.args == args
    assert made.description == made.compiled.description == description
    assert made.is_single_input


@pytest.mark.parametrize("given", ["", "Own words."])
def test_a_given_description_counts(given: str) -> None:
    """An empty one too; what was not given is found once."""
    assert tool(description=given)(multiply.func).description == given


def test_a_copy_is_made_ready_anew() -> None:
    """Under its new name."""
    assert multiply.compiled.name == "multiply"
    copy = multiply.model_copy(update={"name": "times"})

    assert (copy.compiled.name, copy.get_input_jsonschema()["title"]) == ("times", "times")


def test_names_that_no_field_can_have_are_aliases() -> None:
    """Python's and pydantic's own."""

    @tool
    def odd(_x: int, model_config: str) -> None:
        """Be odd."""

    assert list(odd.args) == ["_x", "model_config"]


def test_a_tool_that_cannot_be_offered_has_no_schema() -> None:
    """Nor a description, where there is nothing to be read."""

    class Empty(BaseTool):
        name: str = "empty"

    assert (Empty().args_schema, Empty().description) == (None, "")
    with pytest.raises(DefinitionError):
        Empty().get_input_schema()


def test_what_it_lacks_it_lacks() -> None:
    """As any object."""
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        multiply.nothing  # type: ignore[attr-defined]  # noqa: B018


def test_an_unknown_result_may_be_anything() -> None:
    """Where no annotation says what it is."""
    made = StructuredTool.from_function(lambda x: x, name="f", description="F.")

    assert made.get_output_schema().model_validate({"a": 1}).root == {"a": 1}
