"""Anthropic's strict tools get what they refuse in words."""

from typing import Annotated

from pydantic import Field

from sidecall import tool
from sidecall.schema.forms.definitions import render_definitions


@tool
def book(
    nights: Annotated[int, Field(gt=0, le=30)],
    code: Annotated[str, Field(pattern="^[A-Z]+$", min_length=2)],
    stars: Annotated[list[int], Field(min_length=1, max_length=2)],
) -> str:
    """Book a room.

    Args:
        nights: How long.
        code: Which.
        stars: Which class.
    """
    return ""


def test_bounds_stand_in_the_description() -> None:
    """As the `transform_schema` of Anthropic's own library puts them; the server holds them all the same."""
    assert render_definitions([book.compiled], "anthropic", strict=True) == [
        {
            "name": "book",
            "description": "Book a room.",
            "strict": True,
            "input_schema": {
                "type": "object",
                "properties": {
                    "nights": {"type": "integer", "description": "How long.\n\n{exclusiveMinimum: 0, maximum: 30}"},
                    "code": {"type": "string", "description": 'Which.\n\n{minLength: 2, pattern: "^[A-Z]+$"}'},
                    "stars": {
                        "type": "array",
                        "items": {"type": "integer"},
                        "minItems": 1,
                        "description": "Which class.\n\n{maxItems: 2}",
                    },
                },
                "required": ["nights", "code", "stars"],
                "additionalProperties": False,
            },
        }
    ]
