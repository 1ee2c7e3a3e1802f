"""What models often get wrong in the form of arguments is mended, and said so."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from sidecall import ToolMessage, tool
from sidecall.schema.mend import decode_at, parse_arguments
from tests.kit.calls import run


@pytest.mark.parametrize(
    ("text", "value", "repaired"),
    [
        ('{"a": 1}', {"a": 1}, []),
        ('```json\n{"a": 1}\n```', {"a": 1}, ["arguments: taken out of a Markdown fence"]),
        ('  ```\n{"a": 1}```\n', {"a": 1}, ["arguments: taken out of a Markdown fence"]),
        ('"{\\"a\\": 1}"', {"a": 1}, ["arguments: JSON text inside JSON text"]),
        (
            '```\n"{\\"a\\": 1}"\n```',
            {"a": 1},
            ["arguments: taken out of a Markdown fence", "arguments: JSON text inside JSON text"],
        ),
        ('"plain"', "plain", []),  # a text that is no object stays one
        ('"{broken"', "{broken", []),
        ("[1]", [1], []),
    ],
)
def test_the_text_of_arguments_is_parsed(text: str, value: Any, repaired: list[str]) -> None:
    """Out of a fence or a second encoding if need be."""
    noted: list[str] = []

    assert parse_arguments(text, noted) == value
    assert noted == repaired


@pytest.mark.parametrize("text", ["```\n" + "\n" * 1_000_000, "```\n" + " " * 1_000_000, "```json" * 200_000])
def test_large_texts_are_parsed_at_once(text: str) -> None:
    """What looks for a fence must not try every line break with every other, which would take hours."""
    with pytest.raises(ValueError):
        parse_arguments(text, [])


@pytest.mark.parametrize("text", ["{", "```json\n{\n```", "{'a': 1}", '{"a": 1,}', "```json {} ``` and more"])
def test_what_is_not_json_even_so_is_refused(text: str) -> None:
    """Nothing is guessed."""
    with pytest.raises(ValueError):
        parse_arguments(text, [])


@pytest.mark.parametrize(
    ("data", "path", "decoded", "repaired"),
    [
        ({"a": '{"b": 1}'}, ("a",), {"a": {"b": 1}}, ["a: JSON text instead of an object"]),
        ({"a": [" [1]"]}, ("a", 0), {"a": [[1]]}, ["a[0]: JSON text instead of an array"]),
        ({"a": "text"}, ("a",), {"a": "text"}, []),
        ({"a": "[broken"}, ("a",), {"a": "[broken"}, []),
        ({"a": 1}, ("a",), {"a": 1}, []),
    ],
)
def test_text_inside_data_is_decoded(data: Any, path: Any, decoded: Any, repaired: list[str]) -> None:
    """In a copy, if it is the text of an object or an array."""
    noted: list[str] = []

    assert decode_at(data, path, noted) == decoded
    assert noted == repaired


class Box(BaseModel):
    """A box."""

    w: float
    tags: list[str] = []


class Ball(BaseModel):
    """A ball."""

    kind: Literal["ball"]
    r: float


SCHEMA: dict[str, Any] = {
    "properties": {"box": {"type": "object"}, "many": {"type": "array", "items": {"type": "integer"}}},
}


@tool
def pack(box: Box, many: list[int] = [], text: str = "", any_of: Box | int = 0) -> Any:  # noqa: B006  copied per call
    """Pack."""
    return [box, many, text, any_of]


@tool(args_schema=SCHEMA)
def pack_json(box: Any = None, many: Any = None) -> Any:
    """Pack."""
    return [box, many]


async def call(made: Any, **args: Any) -> ToolMessage:
    """Call a tool."""
    return await run(made, args)


@pytest.mark.parametrize(
    ("args", "content", "repaired"),
    [
        (
            {"box": '{"w": 1}', "many": "[1, 2]"},
            '[{"w": 1.0, "tags": []}, [1, 2], "", 0]',
            ["box: JSON text instead of an object", "many: JSON text instead of an array"],
        ),
        (
            {"box": {"w": 1, "tags": '["a"]'}},
            '[{"w": 1.0, "tags": ["a"]}, [], "", 0]',
            ["box.tags: JSON text instead of an array"],
        ),
        # a text that is wanted as a text stays one
        ({"box": {"w": 1}, "text": "[1]"}, '[{"w": 1.0, "tags": []}, [], "[1]", 0]', []),
        (
            {"box": {"w": 1}, "any_of": '{"w": 2}'},
            '[{"w": 1.0, "tags": []}, [], "", {"w": 2.0, "tags": []}]',
            ["any_of: JSON text instead of an object"],
        ),
    ],
)
async def test_nested_text_is_read_as_what_is_wanted(args: dict[str, Any], content: str, repaired: list[str]) -> None:
    """And reported."""
    message = await call(pack, **args)

    assert message.content == content
    assert message.response_metadata["repaired"] == repaired


async def test_it_holds_for_json_schemas_too() -> None:
    """Of an args_schema that is no model."""
    message = await call(pack_json, box='{"w": 1}', many="[1]")

    assert message.content == '[{"w": 1}, [1]]'
    assert message.response_metadata["repaired"] == [
        "box: JSON text instead of an object",
        "many: JSON text instead of an array",
    ]


@pytest.mark.parametrize(
    ("args", "content"),
    [
        ({"box": "canary"}, "box: Input should be a JSON object"),
        ({"box": '{"w": "x"}'}, "box.w: Input should be a valid number, unable to parse string as a number"),
    ],
)
async def test_what_does_not_fit_even_so_is_refused(args: dict[str, Any], content: str) -> None:
    """With the path in what was meant."""
    assert (await call(pack, **args)).content == content


async def test_a_member_of_a_union_is_found() -> None:
    """By its tag, in the text."""

    @tool
    def throw(thing: Annotated[Ball | Box, Field(description="What.")]) -> Any:
        """Throw."""
        return type(thing).__name__

    message = await call(throw, thing='{"kind": "ball", "r": 1}')

    assert message.content == "Ball"
