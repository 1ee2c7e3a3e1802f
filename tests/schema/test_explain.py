"""A model is told which arguments to mend, in the words of JSON, without what it sent."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from pydantic_core import ErrorDetails

from sidecall.schema.explain import explain, list_details, make_field_errors

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
