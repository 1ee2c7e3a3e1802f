"""A model of pydantic 1 serves as args_schema: advertised, enforced, and filled in by the caller where it says so."""

from collections.abc import Callable
from typing import Annotated, Any, Optional

import pytest
from pydantic import v1

from sidecall import InjectedState, InjectedToolArg, InjectedToolCallId, tool
from sidecall.kernel.core.errors import InvalidToolOption, SchemaInferenceError
from tests.kit.calls import run


class Box(v1.BaseModel):
    """A box."""

    w: float
    tags: list[str] = []


class Search(v1.BaseModel):
    """What to look for."""

    query: str = v1.Field(..., min_length=2, description="The words.")
    limit: int = v1.Field(5, ge=1)
    box: Optional[Box] = None  # noqa: UP045  pydantic 1
    from_: str = v1.Field("here", alias="from")


@tool(args_schema=Search)
def search(query: str, limit: int, box: Any, from_: str) -> str:
    """Search."""
    return f"{query} {limit} {box!r} {from_}"


def test_the_model_is_advertised() -> None:
    """Flat for models, with definitions for people."""
    box = {
        "description": "A box.",
        "type": "object",
        "properties": {"w": {"type": "number"}, "tags": {"default": [], "type": "array", "items": {"type": "string"}}},
        "required": ["w"],
    }
    properties = {
        "query": {"description": "The words.", "minLength": 2, "type": "string"},
        "limit": {"default": 5, "minimum": 1, "type": "integer"},
        "box": box,
        "from": {"default": "here", "type": "string"},
    }

    assert search.compiled.args_schema.flat == {"type": "object", "properties": properties, "required": ["query"]}
    assert search.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {**properties, "box": {"$ref": "#/$defs/Box"}},
        "required": ["query"],
        "$defs": {"Box": box},
    }


@pytest.mark.parametrize(
    ("args", "content"),
    [
        ({"query": "tea"}, "tea 5 None here"),
        ({"query": "tea", "limit": "3", "from": "there"}, "tea 3 None there"),
        ({"query": "tea", "box": {"w": 1}}, "tea 5 Box(w=1.0, tags=[]) here"),
        ({"query": "tea", "limit": None}, "tea 5 None here"),  # null for "not given"
    ],
)
async def test_values_arrive_by_field_name_as_the_model_makes_them(args: dict[str, Any], content: str) -> None:
    """Defaults included."""
    assert (await run(search, args)).content == content


async def test_text_instead_of_an_object_is_read_and_reported() -> None:
    """With the whole path, as in models of pydantic 2."""
    message = await run(search, {"query": "tea", "box": {"w": 1, "tags": '["a"]'}})

    assert message.content == "tea 5 Box(w=1.0, tags=['a']) here"
    assert message.response_metadata["repaired"] == ["box.tags: JSON text instead of an array"]


async def test_what_does_not_fit_is_refused_in_our_words() -> None:
    """One line per field, with what is allowed."""
    message = await run(search, {"limit": 0, "box": {"tags": []}})

    assert message.content == (
        "query: Field required (string, at least 2 characters)\n"
        "limit: Input should be an integer, at least 1\n"
        "box.w: Field required (number)"
    )
    assert message.response_metadata["error"]["kind"] == "invalid_arguments"


async def test_an_unknown_argument_is_reported() -> None:
    """As the model drops it; a name that only Python knows is near enough."""
    message = await run(search, {"query": "tea", "from_": "there", "zz": True})

    assert message.content == "tea 5 None there"
    assert message.response_metadata["ignored_args"] == ["zz"]
    assert message.response_metadata["repaired"] == ["from: sent under its name in other letters"]


async def test_an_authors_handler_gets_the_models_own_error() -> None:
    """As in LangChain."""
    made = tool(args_schema=Search, handle_validation_error=lambda error: type(error).__module__)(search.func)

    assert (await run(made, {})).content == "pydantic.v1.error_wrappers"


class ByName(v1.BaseModel):
    """Arguments under two names."""

    a: int = v1.Field(0, alias="first")

    class Config:
        """Open for both."""

        allow_population_by_field_name = True


async def test_a_model_may_take_both_names() -> None:
    """Neither is ignored then."""

    @tool(args_schema=ByName)
    def take(a: int) -> int:
        """Take."""
        return a

    message = await run(take, {"a": 2})

    assert message.content == "2"
    assert message.response_metadata["ignored_args"] == []


class Marked(v1.BaseModel):
    """Arguments that the model fills only in part."""

    query: str
    tenant: Annotated[str, InjectedToolArg] = v1.Field(..., alias="owner")
    user: Annotated[str, InjectedState("user")] = "nobody"
    call_id: Annotated[str, InjectedToolCallId] = ""


@tool(args_schema=Marked)
def ask(query: str, tenant: str, user: str, call_id: str) -> str:
    """Ask."""
    return f"{query} {tenant} {user} {call_id}"


async def test_marked_fields_are_hidden_and_filled_by_the_caller() -> None:
    """What the model sends under any of their names is dropped."""
    message = await run(
        ask, {"query": "q", "owner": "forged", "call_id": "forged"}, context={"tenant": "acme"}, state={"user": "ada"}
    )

    assert list(ask.compiled.args_schema.flat["properties"]) == ["query"]
    assert message.content == "q acme ada call_1"
    assert message.response_metadata["ignored_args"] == ["call_id", "owner"]


async def test_a_marked_field_may_have_a_default() -> None:
    """It serves when the caller sends nothing."""
    assert (await run(ask, {"query": "q"}, context={"tenant": "acme"})).content == "q acme nobody call_1"


class Open(v1.BaseModel):
    """Arguments of any name."""

    a: int

    class Config:
        """Open."""

        extra = "allow"


async def test_a_model_that_allows_more_gives_it_to_the_function() -> None:
    """Under its own name."""

    @tool(args_schema=Open)
    def take(a: int, **more: Any) -> Any:
        """Take."""
        return [a, more]

    message = await run(take, {"a": 1, "b": 2})

    assert message.content == '[1, {"b": 2}]'
    assert message.response_metadata["ignored_args"] == []


async def test_unknown_arguments_can_be_forbidden() -> None:
    """The option closes the model, and says so."""

    @tool(args_schema=Search, unknown_args="forbid")
    def look(query: str, limit: int, box: Any, from_: str) -> str:
        """Look."""
        return query

    message = await run(look, {"query": "tea", "zz": True})

    assert look.compiled.args_schema.flat["additionalProperties"] is False
    assert message.content == "zz: There is no such argument; the arguments are: box, from, limit, query"


def test_a_model_that_allows_more_cannot_be_closed() -> None:
    """One of the two is a mistake."""

    def take(a: int, **more: Any) -> Any:
        """Take."""

    with pytest.raises(InvalidToolOption) as caught:
        _ = tool(args_schema=Open, unknown_args="forbid")(take).compiled

    assert caught.value.message.endswith(
        "unknown_args='forbid' and args_schema Open, whose extra='allow' takes any argument, contradict each other;"
        " leave one of them out."
    )


class Opaque:
    """What JSON cannot say."""


class WithOpaque(v1.BaseModel):
    """Arguments that JSON cannot say."""

    x: Opaque

    class Config:
        """Take any class."""

        arbitrary_types_allowed = True


class WithFunction(v1.BaseModel):
    """Arguments that JSON cannot say, about which pydantic 1 only warns."""

    x: Callable[[int], int]


class Unresolved(v1.BaseModel):
    """Arguments of a type that does not exist."""

    x: "Nowhere"  # type: ignore[name-defined]  # noqa: F821


def _take_x(x: Any) -> None:
    """Take."""


@pytest.mark.parametrize(
    ("model", "complaint"),
    [
        (WithOpaque, "args_schema WithOpaque: Value not declarable with JSON Schema"),
        (WithFunction, "args_schema WithFunction: `x` cannot be said in JSON Schema."),
        (Unresolved, "args_schema Unresolved: name 'Nowhere' is not defined."),
        (Search, "args_schema Search has to match the function: the function does not take `box`, `from_`, `limit`"),
    ],
)
def test_a_model_that_cannot_be_used_stops_the_start(model: Any, complaint: str) -> None:
    """The tool and its file are named."""
    with pytest.raises(SchemaInferenceError) as caught:
        _ = tool(args_schema=model)(_take_x).compiled

    assert f": tool '_take_x': {complaint}" in caught.value.message
    assert "test_args_schema.py" in caught.value.message


def test_no_other_class_is_taken_for_a_model() -> None:
    """The option says what it wants."""
    with pytest.raises(InvalidToolOption, match="args_schema"):
        tool(args_schema=Opaque)(_take_x)
