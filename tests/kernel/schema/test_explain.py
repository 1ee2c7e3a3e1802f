"""A model is told which arguments to mend, in the words of JSON, without what it sent."""

import enum
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Literal
from uuid import UUID

import pytest
from pydantic import Field, Json, TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from sidecall import tool
from sidecall.kernel.schema.explain import explain, list_details, make_field_errors
from tests.kit.calls import run

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "minimum": 1}, "inner": {"$ref": "#/$defs/Inner"}},
    "$defs": {"Inner": {"type": "object", "properties": {"b": {"type": "string"}, "a": {"type": "string"}}}},
}


def detail(kind: str, msg: str, *loc: str | int, sent: Any = None, **ctx: Any) -> ErrorDetails:
    """Make an error as pydantic reports it."""
    return {"type": kind, "loc": loc, "msg": msg, "input": sent, "ctx": ctx}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (detail("int_type", "Input should be an integer"), "Input should be an integer"),
        (detail("model_type", "Input should be a valid dictionary or instance of X"), "Input should be a JSON object"),
        (
            detail("union_tag_invalid", "Input tag 'secret' …", discriminator="'kind'", expected_tags="'a', 'b'"),
            "Field 'kind' must be one of 'a', 'b'",
        ),
        # a type that quotes what was sent
        (detail("custom", "bad value: secret", sent="secret", value="secret"), "Input is not valid"),
        # an author's own words
        (detail("value_error", "Value error, secret is odd", sent="secret"), "secret is odd"),
    ],
)
def test_errors_are_worded_for_a_model(error: ErrorDetails, text: str) -> None:
    """About JSON, and safe to show."""
    assert explain(error) == text


@pytest.mark.parametrize(("wrong", "count"), [(1, 1), (100, 100), (101, 101), (10_000, 101)])
def test_the_first_errors_are_listed(wrong: int, count: int) -> None:
    """With one more than is told, from which it is seen that there are more."""
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(list[int]).validate_python(["x"] * wrong)

    assert [error["loc"] for error in list_details(raised.value)] == [(index,) for index in range(count)]


def test_errors_without_number_are_only_counted() -> None:
    """Listing them would hold everybody up."""
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(list[int]).validate_python(["x"] * 10_001)

    assert make_field_errors(list_details(raised.value), SCHEMA, []) == [
        {"loc": [], "type": "too_many_errors", "msg": "10,001 values do not fit"}
    ]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (detail("missing", "Field required", "n"), "Field required (integer, at least 1)"),
        (detail("missing", "Field required", "inner", "a"), "Field required (string)"),
        (detail("missing", "Field required", "list", 0, "x"), "Field required"),  # not in the schema
        (
            detail("extra_forbidden", "Extra inputs", "inner", "z"),
            "There is no such argument; the arguments are: a, b",
        ),
        (detail("extra_forbidden", "Extra inputs", "n", "z"), "There is no such argument; the arguments are: none"),
    ],
)
def test_what_is_allowed_is_said(error: ErrorDetails, text: str) -> None:
    """At that place of the schema, references followed."""
    data = {"n": {"z": 1}, "inner": {"z": 1}, "list": [{}]}
    (entry,) = make_field_errors([error], SCHEMA, data)

    assert (entry["loc"], entry["type"], entry["msg"]) == (list(error["loc"]), error["type"], text)


@pytest.mark.parametrize("alphabet", ["base64", "base64url"])
@pytest.mark.parametrize("kind", ["base64_decode", "bytes_invalid_encoding"])
def test_which_alphabet_is_meant_is_said(kind: str, alphabet: str) -> None:
    """Pydantic calls both by one name, and tells of positions that no model can count to."""
    schema = {"type": "object", "properties": {"body": {"type": "string", "format": alphabet}}}
    sent = {"body": "*"}

    (entry,) = make_field_errors([detail(kind, "Data should be valid base64: Invalid …", "body")], schema, sent)

    assert entry["msg"] == f"Input should be {alphabet}, such as aGVsbG8="


class Colour(enum.Enum):
    """A colour."""

    RED = "r"


@pytest.mark.parametrize(
    ("kind", "sent", "text"),
    [
        (dict[int, str], {"a": "x"}, "p.a: the key has to be an integer"),
        (dict[float, str], {"a": "x"}, "p.a: the key has to be a number"),
        (dict[bool, int], {"q": 1}, "p.q: the key has to be a boolean"),
        (dict[Decimal, int], {"q": 1}, "p.q: the key has to be a number"),
        (dict[UUID, int], {"q": 1}, "p.q: the key has to be a UUID, such as 123e4567-e89b-42d3-a456-426614174000"),
        (dict[date, int], {"q": 1}, "p.q: the key has to be a date as YYYY-MM-DD, such as 2026-03-14"),
        (dict[Annotated[int, Field(ge=1)], int], {"0": 1}, "p.0: the key has to be a number, at least 1"),
        (dict[Annotated[str, Field(pattern="^a")], int], {"0": 1}, "p.0: the key has to be a string, matching ^a"),
        (
            dict[Annotated[str, Field(max_length=2)], int],
            {"000": 1},
            "p.000: the key has to be a string, at most 2 characters",
        ),
        (dict[Literal["a", "b"], int], {"c": 1}, "p.c: There is no such argument; the arguments are: a, b"),
        (dict[Colour, int], {"c": 1}, "p.c: There is no such argument; the arguments are: r"),
        (dict[Literal[1, 2], int], {"3": 1}, "p.3: the key has to be 1 or 2"),
        (list[dict[int, int]], [{"a": 1}], "p[0].a: the key has to be an integer"),
        (dict[int, str] | None, {"a": "x"}, "p.a: the key has to be an integer"),
        (dict[int, str] | str, {"a": "x"}, "p: the key has to be an integer"),
        (dict[int, dict[int, int]], {"1": {"z": 2}}, "p.1.z: the key has to be an integer"),
        (
            Annotated[list[Annotated[int, Field(ge=0)]], Field(max_length=3)],
            [1, 2, 3, 4],
            "p: Input should be an array of integer, at most 3 items, each at least 0",
        ),
        (tuple[int, str], [1, "a", 2], "p: Input should be an array of integer, then string, exactly 2 items"),
        (Annotated[dict[str, int], Field(min_length=1)], {}, "p: Input should be an object, at least 1 key"),
        (Annotated[Decimal, Field(decimal_places=1)], "1.25", "p: Input should have no more than 1 decimal place"),
        (complex, "x", "p: Input should be a complex number, such as 1+2j"),
        (Json[int], '"x"', "p: Input should be JSON text of integer"),
    ],
)
async def test_a_rule_of_python_is_said_in_words_of_json(kind: Any, sent: Any, text: str) -> None:
    """Of keys, too, of whose types schemas say nothing."""

    def take(p: Any) -> str:
        """Take."""
        return repr(p)

    take.__annotations__["p"] = kind

    assert (await run(tool(take), {"p": sent})).content == text
