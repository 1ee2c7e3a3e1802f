"""The decorator takes a name, options, both or neither."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, ConfigDict, Field, computed_field

from sidecall import BaseTool, InjectedToolArg, StructuredTool, Tool, ToolContext, tool
from sidecall.kernel.core.errors import InvalidDocstring, InvalidToolName, InvalidToolOption, SchemaInferenceError
from tests.kit.calls import run


def search(query: str) -> str:
    """Search."""
    return query


@pytest.mark.parametrize(
    ("made", "name", "direct"),
    [
        pytest.param(tool(search), "search", False, id="@tool"),
        pytest.param(tool()(search), "search", False, id="@tool()"),
        pytest.param(tool("find")(search), "find", False, id="@tool('find')"),
        pytest.param(tool(name="find")(search), "find", False, id="@tool(name='find')"),
        pytest.param(tool("find", return_direct=True)(search), "find", True, id="name and option"),
        pytest.param(tool(return_direct=True)(search), "search", True, id="option"),
        pytest.param(tool(search, return_direct=True), "search", True, id="function and option"),
    ],
)
def test_a_function_is_decorated(made: StructuredTool, name: str, direct: bool) -> None:
    """However the decorator is written."""
    assert (made.name, made.compiled.options.return_direct) == (name, direct)


def test_a_decorated_function_can_still_be_called() -> None:
    """As the plain function it was."""
    assert tool(search)("a") == "a"
    assert tool(search)(query="a") == "a"


@pytest.mark.parametrize(
    ("decorate", "expected"),
    [
        (lambda: tool(3), "@tool takes a name or a function first, not int."),
        (lambda: tool()(3), "@tool decorates a function, not int."),
        (lambda: tool("find")("search"), "@tool decorates a function, not str."),
    ],
)
def test_anything_else_is_refused(decorate: Any, expected: str) -> None:
    """With the type that was found."""
    with pytest.raises(InvalidToolOption) as caught:
        decorate()

    assert caught.value.message == expected


@pytest.mark.parametrize(
    "options",
    [pytest.param({"name": "other"}, id="two names"), pytest.param({"func": search}, id="two functions")],
)
def test_saying_something_twice_is_refused(options: dict[str, Any]) -> None:
    """As a mistake of the tool's author, like any other option."""
    with pytest.raises(InvalidToolOption):
        tool("find", **options)(search)


def test_a_lambda_needs_a_name() -> None:
    """Its own is none."""
    with pytest.raises(InvalidToolName, match=r"tool '<lambda>'.*@tool\('good_name'\)"):
        _ = tool(lambda: None).compiled


class Opaque:
    """What JSON cannot say."""


class Person(BaseModel):
    """Somebody."""

    name: str
    friends: list["Person"] = []


async def _content(offered: BaseTool, args: dict[str, Any]) -> Any:
    message = await run(offered, args)
    return message.content


class Search(BaseModel):
    """Arguments of the author's own."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(min_length=2)
    limit: int = 5

    @computed_field
    @property
    def shout(self) -> str:
        """The query in capitals."""
        return self.query.upper()


async def test_an_args_schema_takes_the_place_of_the_signature() -> None:
    """Its constraints and its defaults hold; the model's docstring is not the tool's."""

    @tool(args_schema=Search)
    def search(query, limit, ctx: ToolContext):  # type: ignore[no-untyped-def]
        """Search."""
        return f"{query} {limit} {ctx.tool_name}"

    assert search.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {"query": {"minLength": 2, "type": "string"}, "limit": {"default": 5, "type": "integer"}},
        "required": ["query"],
        "additionalProperties": False,
    }
    assert await _content(search, {"query": "ab"}) == "ab 5 search"
    assert await _content(search, {"query": "a"}) == "query: Input should be a string, at least 2 characters"


async def test_a_function_of_keywords_takes_any_args_schema() -> None:
    """Two stars take every field."""

    @tool(args_schema=Search)
    def search(**given: Any) -> dict[str, Any]:
        """Search."""
        return given

    assert await _content(search, {"query": "ab"}) == '{"query": "ab", "limit": 5}'


def _takes_too_little(query: str) -> None:
    """Search."""


def _wants_more(query: str, limit: int, page: int, per: int, *, hidden: Annotated[int, InjectedToolArg]) -> None:
    """Search."""


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (_takes_too_little, "the function does not take `limit`."),
        (_wants_more, "the function requires but the model lacks `page`, `per`."),
    ],
)
def test_an_args_schema_has_to_match_the_function(function: Callable[..., Any], expected: str) -> None:
    """A mismatch would fail every call."""
    with pytest.raises(SchemaInferenceError) as caught:
        _ = tool("search", args_schema=Search)(function).compiled

    assert caught.value.message.endswith(f": tool 'search': args_schema Search has to match the function: {expected}")


class OpaqueArguments(BaseModel):
    """Arguments that JSON cannot say."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    x: Opaque


def test_an_args_schema_that_json_schema_cannot_say_fails_the_start() -> None:
    """The message names file, tool and model."""

    @tool(args_schema=OpaqueArguments)
    def take(x: Any) -> None:
        """Take."""

    with pytest.raises(SchemaInferenceError) as caught:
        _ = take.compiled

    assert ": tool 'take': args_schema OpaqueArguments: Cannot generate a JsonSchema" in caught.value.message


def test_a_recursive_args_schema_is_an_object_at_its_root() -> None:
    """Every provider wants an object there, not a reference."""

    @tool(args_schema=Person)
    def greet(name: str, friends: list[Person]) -> str:
        """Greet."""
        return f"{name} {friends!r}"

    person = {
        "description": "Somebody.",
        "properties": {
            "name": {"type": "string"},
            "friends": {"default": [], "items": {"$ref": "#/$defs/Person"}, "type": "array"},
        },
        "required": ["name"],
        "type": "object",
    }

    assert greet.compiled.args_schema.flat == {
        "type": "object",
        "properties": person["properties"],
        "required": ["name"],
        "$defs": {"Person": person},
    }
    assert greet.invoke({"name": "Bo", "friends": [{"name": "Al"}]}) == "Bo [Person(name='Al', friends=[])]"


DOCUMENTED = """Look up the forecast.

Second paragraph.

Args:
    city: Where.
"""


def forecast(city: str) -> str:
    """Stand in for the texts below."""
    return city


@pytest.mark.parametrize(
    ("parse", "description", "city"),
    [
        (None, "Look up the forecast.\n\nSecond paragraph.", {"description": "Where.", "type": "string"}),
        (True, "Look up the forecast. Second paragraph.", {"description": "Where.", "type": "string"}),  # LangChain's
        (False, DOCUMENTED.strip(), {"type": "string"}),
    ],
)
def test_how_a_docstring_is_read_can_be_said(
    monkeypatch: pytest.MonkeyPatch, parse: bool | None, description: str, city: dict[str, Any]
) -> None:
    """Its sections are taken apart unless the author wants it whole."""
    monkeypatch.setattr(forecast, "__doc__", DOCUMENTED)

    made = tool(parse_docstring=parse)(forecast).compiled

    assert made.description == description
    assert made.args_schema.flat["properties"]["city"] == city


@pytest.mark.parametrize(
    ("docstring", "complaint"),
    [
        ("Look up.\n\nArgs:\n    town: Where.", "the docstring describes `town`, which is not a parameter"),
        ("Look up.", "the docstring describes none of the parameters"),
    ],
)
def test_a_docstring_that_does_not_fit_stops_the_start_if_the_author_wants_it(
    monkeypatch: pytest.MonkeyPatch, docstring: str, complaint: str
) -> None:
    """Otherwise it is a note."""
    monkeypatch.setattr(forecast, "__doc__", docstring)

    with pytest.raises(InvalidDocstring, match=complaint):
        assert tool(error_on_invalid_docstring=True)(forecast).compiled
    with pytest.raises(InvalidDocstring):  # As LangChain's decorator has it where it parses at all.
        assert tool(parse_docstring=True)(forecast).compiled
    assert StructuredTool.from_function(forecast, parse_docstring=True).compiled
    assert tool(forecast).compiled.name == "forecast"


def test_a_function_of_one_text_needs_no_schema() -> None:
    """LangChain's infer_schema=False makes a Tool."""
    made = tool(infer_schema=False)(forecast)

    assert isinstance(made, Tool)
    assert made.compiled.args_schema.flat["properties"] == {"__arg1": {"type": "string"}}
    assert made.invoke({"__arg1": "Ulm"}) == "Ulm"


def test_an_args_schema_beats_infer_schema() -> None:
    """As in LangChain."""

    class Where(BaseModel):
        city: str

    made = tool(infer_schema=False, args_schema=Where)(forecast)

    assert not isinstance(made, Tool)
    assert made.invoke({"city": "Ulm"}) == "Ulm"


def test_extras_are_kept_for_whoever_asks() -> None:
    """They never reach the definition."""
    made = tool(extras={"cache_control": {"type": "ephemeral"}})(forecast).compiled

    assert made.options.extras == {"cache_control": {"type": "ephemeral"}}
    assert "cache_control" not in str(made.args_schema.flat)
