"""What the properties found in what is advertised, each in its smallest form."""

import enum
import json
from typing import Annotated, List, Literal  # noqa: UP035  authors still write it

import pytest
from pydantic import BaseModel, Field

from sidecall import tool
from sidecall.kernel.core.errors import SchemaInferenceError


class Color(enum.Enum):
    """Name by text."""

    RED = "red"


def test_a_member_of_a_plain_enumeration_as_a_literal_is_refused() -> None:
    """No JSON value is equal to it, so that the tool could never be called."""

    @tool
    def paint(color: Literal[Color.RED] | None) -> str:
        """Paint."""
        return repr(color)

    with pytest.raises(SchemaInferenceError) as refused:
        paint.compiled  # noqa: B018  compiled when first read

    assert refused.value.message.endswith(
        "parameter `color`: no JSON is Color.RED of a plain Enum; list its value in the Literal, or use a StrEnum."
        " To mend it, use a type that JSON can say, or hide the parameter with Annotated[..., InjectedToolArg]."
    )


class Cat(BaseModel):
    """Be told apart by a tag that has a default."""

    kind: Literal["cat"] = "cat"


class Dog(BaseModel):
    """Be told apart by a tag that has a default."""

    kind: Literal["dog"] = "dog"


@tool
def keep(pet: Annotated[Cat | Dog, Field(discriminator="kind")]) -> str:
    """Keep a pet."""
    return pet.kind


def test_the_tag_of_a_discriminated_union_is_advertised_as_required() -> None:
    """Pydantic refuses a pet without it, with any default."""
    options = keep.compiled.args_schema.flat["properties"]["pet"]["oneOf"]

    assert [option.get("required") for option in options] == [["kind"], ["kind"]]


def test_the_flat_schema_refers_to_nothing_that_it_lacks() -> None:
    """A discriminator's mapping does not point at definitions that were put in place."""
    flat = keep.compiled.args_schema.flat

    assert "$defs" not in flat
    assert "#/$defs/" not in json.dumps(flat)


def test_none_inside_a_type_does_not_make_it_optional() -> None:
    """A default of None does."""

    @tool
    def wait(turns: List[None] = None) -> int:  # noqa: UP006, RUF013
        """Wait."""
        return len(turns or [])

    assert wait.compiled.args_schema.flat["properties"]["turns"]["anyOf"] == [
        {"items": {"type": "null"}, "type": "array"},
        {"type": "null"},
    ]
