"""What models often get wrong in the form of arguments is mended, and said so."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, Field

from sidecall import ToolMessage, tool
from tests.kit.calls import run


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
        ({"box": "canary"}, "box: Input should be an object {w, tags?}"),
        ({"box": '{"w": "x"}'}, "box.w: Input should be a number"),
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
