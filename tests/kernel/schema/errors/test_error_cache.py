"""What is said of a fault that depends on nothing that was sent is found once; all others are looked at each time."""

from dataclasses import replace
from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from sidecall import tool
from sidecall.kernel.core.errors import InvalidArguments
from sidecall.kernel.core.field_errors import FieldError
from sidecall.kernel.schema.errors import error_cache
from sidecall.kernel.schema.errors.error_cache import ErrorCache
from sidecall.kernel.schema.model_args_schema import ModelArgsSchema


class Place(BaseModel):
    """Where something is."""

    street: str


@tool
async def send(
    text: str,
    place: Place | None = None,
    unit: Literal["day", "week"] = "day",
    times: Annotated[int, Field(ge=1)] = 1,
    either: int | list[int] = 1,
) -> str:
    """Send a text."""
    return f"{text} {place} {unit} {times} {either}"


@tool
async def find(unit: Literal["day", "week"]) -> str:
    """Find a unit."""
    return unit


def _refuse(schema: ModelArgsSchema, args: dict[str, Any]) -> InvalidArguments:
    with pytest.raises(InvalidArguments) as refused:
        schema.validate(args, {}, [], [])
    return refused.value


def _schema_of(made: Any) -> ModelArgsSchema:
    schema = made.compiled.args_schema
    assert isinstance(schema, ModelArgsSchema)
    return replace(schema, error_cache=ErrorCache(schema.closed))  # Nothing is kept of other tests.


_TEXT: FieldError = {
    "loc": ["text"],
    "type": "string_type",
    "msg": "Input should be a string",
    "expected": "string",
}
_NO_TEXT: FieldError = {"loc": ["text"], "type": "missing", "msg": "Field required (string)", "expected": "string"}
_COUNT: FieldError = {
    "loc": ["times"],
    "type": "int_type",
    "msg": "Input should be an integer, at least 1",
    "expected": "integer, at least 1",
}


@pytest.mark.parametrize(
    ("args", "entry", "line"),
    [
        ({"text": 1}, _TEXT, "text: Input should be a string"),
        ({"text": ["a"]}, _TEXT, "text: Input should be a string"),
        ({}, _NO_TEXT, "text: Field required (string)"),
        ({"unit": "week"}, _NO_TEXT, "text: Field required (string)"),
        ({"text": "a", "times": [2]}, _COUNT, "times: Input should be an integer, at least 1"),
    ],
)
def test_a_cached_error_is_said_alike_each_time(args: dict[str, Any], entry: FieldError, line: str) -> None:
    """The first call finds it, the second has it."""
    schema = _schema_of(send)

    for _ in range(2):
        refused = _refuse(schema, args)
        assert (refused.errors, refused.message) == ([entry], line)
        assert [it["loc"] for it in refused.original.errors()] == [tuple(entry["loc"])]  # type: ignore[union-attr]


def test_an_answer_has_its_own_entry() -> None:
    """A change to it changes no other."""
    schema = _schema_of(send)
    first = _refuse(schema, {"text": 1})
    first.errors[0]["loc"].insert(0, "outer")
    first.errors[0]["msg"] = "changed"

    assert _refuse(schema, {"text": 1}).errors == [_TEXT]


@pytest.mark.parametrize(
    "args",
    [
        pytest.param({"text": None}, id="null"),
        pytest.param({"text": 1.5}, id="a number with a dot"),
        pytest.param({"text": "a", "place": 1}, id="a choice of types, one of them null"),
        pytest.param({"text": "a", "place": {"street": 1}}, id="inside of an object"),
        pytest.param({"text": "a", "either": {}}, id="a choice of types"),
        pytest.param({"text": "a", "times": 0}, id="a bound"),
        pytest.param({"text": "a", "times": "many"}, id="a text"),
        pytest.param({"text": "a", "unit": 1}, id="a list of values"),
    ],
)
def test_what_depends_on_what_was_sent_is_as_it_is_without(args: dict[str, Any]) -> None:
    """The same is said where nothing is kept."""
    schema = _schema_of(send)

    kept = [_refuse(schema, args) for _ in range(2)]
    without = _refuse(replace(schema, error_cache=None), args)

    assert [(it.errors, it.message) for it in kept] == [(without.errors, without.message)] * 2


def test_a_missing_argument_that_was_wrapped_is_found_all_the_same() -> None:
    """Both calls lack it, and in one all arguments are inside of another."""
    schema = _schema_of(send)
    repaired: list[str] = []
    _refuse(schema, {"unit": "week"})

    values = schema.validate({"arguments": {"text": "a"}}, {}, repaired, [])

    assert (values["text"], repaired) == ("a", ["arguments: taken out of a wrapper, arguments"])


def test_a_null_is_dropped_where_an_argument_of_its_name_was_refused() -> None:
    """A value of another type is refused, a null means that it was left out."""
    schema = _schema_of(send)
    _refuse(schema, {"text": "a", "times": [2]})

    assert schema.validate({"text": "a", "times": None}, {}, [], [])["times"] == 1


def test_a_missing_argument_with_few_values_names_them() -> None:
    """Each answer has a list of its own."""
    schema = _schema_of(find)

    for _ in range(2):
        refused = _refuse(schema, {})
        assert refused.errors[0]["allowed"] == ["day", "week"]
        refused.errors[0]["allowed"].clear()


def test_no_more_is_kept_than_there_is_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """What there is no room for is found each time."""
    monkeypatch.setattr(error_cache, "_MOST_KEPT", 0)
    schema = _schema_of(send)

    assert [_refuse(schema, {"text": 1}).errors for _ in range(2)] == [[_TEXT]] * 2
