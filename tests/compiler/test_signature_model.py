"""Every legal signature becomes a schema, and its values arrive as the annotated types."""

from collections.abc import Callable
from typing import Annotated, Any

import pytest
from pydantic import Field, GetPydanticSchema
from pydantic_core import core_schema

from sidecall import BaseTool, tool
from sidecall.kernel.core.errors import SchemaInferenceError
from tests.kit.calls import run


class Opaque:
    """What JSON cannot say."""


async def _content(offered: BaseTool, args: dict[str, Any]) -> Any:
    message = await run(offered, args)
    return message.content


@tool
def every_kind(
    a: int,
    b: int = 2,
    /,
    model_config: int = 3,
    self: str = "s",
    _x: int = 4,
    schema: str = "q",
    json: int = 5,
    copy: bool = False,
    *rest: int,
    validate: float = 1.5,
    **more: int,
) -> dict[str, Any]:
    """Take every kind of parameter, under names that pydantic keeps for itself."""
    named = {"model_config": model_config, "self": self, "_x": _x, "schema": schema, "json": json, "copy": copy}
    return {"a": a, "b": b, **named, "rest": rest, "validate": validate, "more": more}


def test_every_kind_of_parameter_has_a_property() -> None:
    """Those behind two stars are what additionalProperties says."""
    assert every_kind.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {
            "a": {"type": "integer"},
            "b": {"default": 2, "type": "integer"},
            "model_config": {"default": 3, "type": "integer"},
            "self": {"default": "s", "type": "string"},
            "_x": {"default": 4, "type": "integer"},
            "schema": {"default": "q", "type": "string"},
            "json": {"default": 5, "type": "integer"},
            "copy": {"default": False, "type": "boolean"},
            "rest": {"items": {"type": "integer"}, "type": "array"},
            "validate": {"default": 1.5, "type": "number"},
        },
        "required": ["a"],
        "additionalProperties": {
            "type": "integer",
            "description": "Further arguments, each under its own name beside the others.",
        },
    }


@pytest.mark.parametrize(
    ("args", "expected"),
    [
        pytest.param(
            {"a": "1"},
            '{"a": 1, "b": 2, "model_config": 3, "self": "s", "_x": 4, "schema": "q", "json": 5, "copy": false,'
            ' "rest": [], "validate": 1.5, "more": {}}',
            id="defaults",
        ),
        pytest.param(
            {"a": 1, "b": 9, "self": "t", "_x": 8, "rest": [1, "2"], "validate": 2, "extra": "7", "p0": 1},
            '{"a": 1, "b": 9, "model_config": 3, "self": "t", "_x": 8, "schema": "q", "json": 5, "copy": false,'
            ' "rest": [1, 2], "validate": 2.0, "more": {"extra": 7, "p0": 1}}',
            id="everything",
        ),
        pytest.param(
            {"a": 1, "extra": "x"},
            "extra: Input should be an integer",
            id="typed extras",
        ),
        pytest.param({"a": 1, "rest": [None]}, "rest[0]: Input should be an integer", id="typed rest"),
    ],
)
async def test_every_kind_of_parameter_gets_its_value(args: dict[str, Any], expected: str) -> None:
    """Positional, by keyword or among the rest, as the signature has it."""
    assert await _content(every_kind, args) == expected


async def test_untyped_parameters_take_any_json() -> None:
    """One star and two stars included."""

    @tool
    def collect(first, *rest, **more):  # type: ignore[no-untyped-def]
        """Collect."""
        return {"first": first, "rest": rest, "more": more}

    assert collect.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {"first": {}, "rest": {"items": {}, "type": "array"}},
        "required": ["first"],
        "additionalProperties": True,
    }
    assert await _content(collect, {"first": None, "rest": [1, "a"], "self": {"b": []}}) == (
        '{"first": null, "rest": [1, "a"], "more": {"self": {"b": []}}}'
    )


async def test_an_alias_is_advertised_and_the_own_name_accepted() -> None:
    """Words that Python reserves can be arguments."""

    @tool
    def route(from_: Annotated[str, Field(alias="from")], class_: int = Field(2, alias="class")) -> str:
        """Route."""
        return f"{from_} {class_}"

    assert route.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {"from": {"type": "string"}, "class": {"default": 2, "type": "integer"}},
        "required": ["from"],
    }
    assert await _content(route, {"from": "Ulm", "class": 1}) == "Ulm 1"
    assert await _content(route, {"from_": "Ulm", "class_": 1}) == "Ulm 1"
    assert await _content(route, {}) == "from: Field required (string)"


@tool
def with_defaults(
    numbers: list[int] = [],  # noqa: B006  what many authors write
    count: int = Field(3, ge=1),
    made: list[str] = Field(default_factory=list),  # noqa: B008
    limit: int = None,  # type: ignore[assignment]  # noqa: RUF013  what many authors write
    name: str | None = "x",
) -> dict[str, Any]:
    """Add to what it was given."""
    numbers.append(1)
    made.append("z")
    return {"numbers": numbers, "count": count, "made": made, "limit": limit, "name": name}


def test_defaults_are_advertised() -> None:
    """None as the default of a type without it makes the type optional."""
    assert with_defaults.compiled.args_schema.json_schema == {
        "type": "object",
        "properties": {
            "numbers": {"default": [], "items": {"type": "integer"}, "type": "array"},
            "count": {"default": 3, "minimum": 1, "type": "integer"},
            "made": {"items": {"type": "string"}, "type": "array"},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}], "default": None},
            "name": {"anyOf": [{"type": "string"}, {"type": "null"}], "default": "x"},
        },
    }


async def test_a_mutable_default_is_copied_for_each_call() -> None:
    """One call must not see what another left in it."""
    expected = '{"numbers": [1], "count": 3, "made": ["z"], "limit": null, "name": "x"}'

    assert await _content(with_defaults, {}) == expected
    assert await _content(with_defaults, {}) == expected


async def test_null_is_a_value_where_the_type_has_it() -> None:
    """An optional text that is sent as null is None, not its default."""
    expected = '{"numbers": [1], "count": 3, "made": ["z"], "limit": null, "name": null}'

    assert await _content(with_defaults, {"name": None}) == expected


async def test_constraints_of_a_field_default_hold() -> None:
    """A Field given as the default joins the annotation."""
    assert await _content(with_defaults, {"count": 0}) == "count: Input should be an integer, at least 1"


def test_descriptions_come_from_docstring_then_bare_text_then_field() -> None:
    """As in both SDKs."""

    @tool
    def take(
        a: Annotated[int, "bare a", Field(description="field a")],
        b: Annotated[int, Field(description="field b"), "bare b", "second"],
        c: Annotated[int, Field(description="field c", gt=0)],
        d: int = Field(1, description="field d"),
    ) -> None:
        """Take.

        Args:
            a: doc a
        """

    described = {name: node["description"] for name, node in take.compiled.args_schema.flat["properties"].items()}

    assert described == {"a": "doc a", "b": "bare b", "c": "field c", "d": "field d"}


def test_an_annotated_default_makes_a_parameter_optional() -> None:
    """A Field inside Annotated may hold the default, too."""

    @tool
    def take(a: Annotated[int, Field(default=4)], b: Annotated[list[int], Field(default_factory=lambda: [1])]) -> str:
        """Take."""
        return f"{a} {b}"

    assert "required" not in take.compiled.args_schema.json_schema
    assert take.invoke({}) == "4 [1]"


def _broken_schema(_source: Any, _handler: Any) -> Any:
    return core_schema.is_instance_schema(Opaque)


@pytest.mark.parametrize(
    ("annotation", "reason"),
    [
        (Opaque, "Unable to generate pydantic-core schema for <class"),
        (Callable[[int], int], "Cannot generate a JsonSchema for core_schema.CallableSchema"),
        (Annotated[Any, GetPydanticSchema(_broken_schema)], "Cannot generate a JsonSchema"),
        (5, "its annotation 5 is no type."),
        (["a"], "its annotation ['a'] is no type."),
        ({"a": "b"}, "its annotation {'a': 'b'} is no type."),
        (("a", 1), "its annotation ('a', 1) is no type."),
        (..., "its annotation Ellipsis is no type."),
    ],
)
def test_a_type_that_json_schema_cannot_say_fails_the_start(annotation: Any, reason: str) -> None:
    """The message names file, tool and parameter, and what to write instead."""

    def take(fine: int, x: Any) -> None:
        """Take."""

    take.__annotations__["x"] = annotation

    with pytest.raises(SchemaInferenceError) as caught:
        _ = tool(take).compiled

    assert "tests/compiler/test_signature_model.py:" in caught.value.message
    assert f": tool 'take': parameter `x`: {reason}" in caught.value.message
    assert caught.value.message.endswith(
        "To mend it, use a type that JSON can say, or hide the parameter with Annotated[..., InjectedToolArg]."
    )


@pytest.mark.parametrize(
    "default", [pytest.param("ten", id="plain"), pytest.param(Field("ten", ge=1), id="in a Field")]
)
def test_a_default_that_does_not_fit_its_type_fails_the_start(default: Any) -> None:
    """Otherwise the tool would be run with it."""

    def take(limit: int = default) -> int:
        """Take."""
        return limit

    with pytest.raises(SchemaInferenceError, match="limit"):
        _ = tool(take).compiled


def test_free_arguments_of_a_type_that_json_schema_cannot_say_fail_the_start() -> None:
    """They are named like any other parameter."""

    def take(**options: Opaque) -> None:
        """Take."""

    with pytest.raises(SchemaInferenceError, match="parameter `options`: Unable to generate pydantic-core schema"):
        _ = tool(take).compiled


async def test_free_arguments_may_stand_beside_one_that_is_given_by_position() -> None:
    """Two stars are never given by position."""

    @tool
    def take(a: int, /, **options: int) -> str:
        """Take."""
        return f"{a} {options}"

    assert await _content(take, {"a": 1, "x": 2}) == "1 {'x': 2}"
