"""Null for what a member of a union does not require is "not given", since strict schemas make models send it."""

from typing import Any, Literal, NotRequired

import pytest
from pydantic import BaseModel
from typing_extensions import TypedDict

from sidecall import tool
from tests.kit.calls import run


class Box(BaseModel):
    """A box."""

    width: int
    color: str = "red"


class Bag(BaseModel):
    """A bag."""

    litres: float
    tags: list[str] = []
    inside: "Box | Bag | None" = None


class Crate(TypedDict):
    """A crate."""

    slats: int
    wood: NotRequired[Literal["oak", "pine"]]


@tool
def pack(
    one: Box | Bag | None = None,
    number: Box | int = 0,
    many: list[Box | Bag] = [],  # noqa: B006  copied per call
    named: dict[str, Box | int] = {},  # noqa: B006  copied per call
    crate: Crate | list[str] | None = None,
) -> Any:
    """Pack."""
    return [one, number, many, named, crate]


@tool(args_schema=pack.args_schema.model_json_schema())
def pack_as_sent(**kwargs: Any) -> Any:
    """Pack."""
    return kwargs


FITTING: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("of a member", {"one": {"width": 1, "color": None}}, {"one": {"width": 1}}),
    ("of the other member", {"one": {"litres": 2, "tags": None}}, {"one": {"litres": 2}}),
    ("beside another type", {"number": {"width": 1, "color": None}}, {"number": {"width": 1}}),
    (
        "in items",
        {"many": [{"width": 1, "color": None}, {"litres": 2, "tags": None}]},
        {"many": [{"width": 1}, {"litres": 2}]},
    ),
    ("in values of any name", {"named": {"a": {"width": 1, "color": None}}}, {"named": {"a": {"width": 1}}}),
    ("of what has a choice of words", {"crate": {"slats": 3, "wood": None}}, {"crate": {"slats": 3}}),
    (
        "at a depth",
        {"one": {"litres": 2, "inside": {"litres": 1, "tags": None, "inside": {"width": 3, "color": None}}}},
        {"one": {"litres": 2, "inside": {"litres": 1, "inside": {"width": 3}}}},
    ),
]


@pytest.mark.parametrize(("sent", "meant"), [pytest.param(*case[1:], id=case[0]) for case in FITTING])
async def test_what_may_be_left_out_is_not_given(sent: dict[str, Any], meant: dict[str, Any]) -> None:
    """As if the name were not there at all, for a function's types and for the same schema as a document."""
    for made in (pack, pack_as_sent):
        answer, plain = await run(made, sent), await run(made, meant)

        assert (plain.status, answer.status) == ("success", "success"), answer.content
        assert answer.content == plain.content


@pytest.mark.parametrize(
    ("sent", "content"),
    [
        ({"one": {"width": None, "color": "blue"}}, "one.width: Input should be an integer"),
        ({"number": {"width": None, "color": None}}, "number.width: Input should be an integer"),
        ({"many": [None, {"width": 1, "color": None}]}, "many[0]: Input should be an object"),
        ({"named": {"a": None}}, "named.a: Input should be an object"),
    ],
)
async def test_what_is_required_is_refused(sent: dict[str, Any], content: str) -> None:
    """Neither an item nor an entry with a free name is left out."""
    for made in (pack, pack_as_sent):
        answer = await run(made, sent)

        assert answer.status == "error"
        assert answer.content.startswith(content)
