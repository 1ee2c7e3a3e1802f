"""Of a value that fits no member of a union, what is wrong with the member that it was meant for is said."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from sidecall import BaseTool, tool
from tests.kit.calls import run


class Flat(BaseModel):
    """A thing with numbers."""

    name: str
    sub: list[int] = []


class Tree(BaseModel):
    """A thing with things like it."""

    name: str
    kids: list["Tree"] = []


@dataclass
class Cfg:
    """No model."""

    name: str
    opts: dict[str, int] | None = None


class Closed(BaseModel, extra="forbid"):
    """Takes no other names."""

    name: str
    sub: list[int] = []


class ClosedToo(BaseModel, extra="forbid"):
    """Takes no other names."""

    name: str
    kids: list[Closed] = []


def _taking(annotation: Any) -> BaseTool:
    def take(x: Any) -> str:
        """Take."""
        return repr(x)

    take.__annotations__["x"] = annotation
    return tool(take)


_ANY = "x: send either {name, sub?} or {name, kids?}"


@pytest.mark.parametrize(
    ("annotation", "sent", "expected"),
    [
        (Flat | Tree | int, {"name": "a", "kids": [{}]}, "x.kids[0].name: Field required (string)"),
        (Flat | Tree | int, {"name": "a", "sub": ["x"]}, "x.sub[0]: Input should be an integer"),
        (
            Flat | Tree,
            {"name": "a", "kids": [{"name": "b", "kids": [{"name": 3}]}]},
            "x.kids[0].kids[0].name: Input should be a string",
        ),
        # What is wrong for each of them.
        (Flat | Tree, {"name": 3}, "x.name: Input should be a string"),
        (Flat | Tree, {}, _ANY),
        (Flat | Tree, {"name": "a", "sub": ["x"], "kids": []}, _ANY),
        (Closed | ClosedToo, {"name": "a", "more": 1}, _ANY),
        (list[Closed | ClosedToo], [{"name": "a", "more": 1}], _ANY.replace("x", "x[0]", 1)),
        (Cfg | Flat, {"name": "a", "sub": ["x"]}, "x.sub[0]: Input should be an integer"),
        (Cfg | Flat, {"name": "a", "opts": {"b": "x"}}, "x.opts.b: Input should be an integer"),
        (list[Cfg | Flat | None], [None, {"name": "a", "sub": ["x"]}], "x[1].sub[0]: Input should be an integer"),
        # By what is in an array, and by what is in an object of any keys.
        (list[Flat] | list[Tree], [{"name": "a", "kids": [{}]}], "x[0].kids[0].name: Field required (string)"),
        (list[Flat] | list[Cfg] | list[int], [{"name": 1}], "x[0].name: Input should be a string"),
        (Flat | dict[str, int], {"a": "x"}, "x.a: Input should be an integer"),
    ],
)
async def test_the_member_that_was_meant_is_explained(annotation: Any, sent: Any, expected: str) -> None:
    """By the keys that were sent."""
    assert (await run(_taking(annotation), {"x": sent})).content == expected


_MONEY = "a decimal number, such as 12.50"
_AT_LEAST = Annotated[Decimal, Field(ge=0, decimal_places=2)]


@pytest.mark.parametrize(
    ("annotation", "sent", "expected"),
    [
        (Decimal, "12,50", f"x: Input should be {_MONEY}"),
        (Decimal | None, True, f"x: Input should be {_MONEY}"),
        (list[Decimal], ["1", "x"], f"x[1]: Input should be {_MONEY}"),
        (_AT_LEAST, "x", "x: Input should be a decimal number, at least 0.0, such as 12.50"),
        (_AT_LEAST, "1.234", "x: Input should have no more than 2 decimal places"),
        (_AT_LEAST, -1, "x: Input should be a number, at least 0.0"),
        (int | Decimal, "x", "x: Input should be an integer or decimal number, such as 12.50"),
        (Decimal | Flat, {"name": 3}, "x.name: Input should be a string"),
        (Decimal | str, {}, "x: Input should be a number or string"),
    ],
)
async def test_a_decimal_number_is_asked_for(annotation: Any, sent: Any, expected: str) -> None:
    """Of which the schema says that it may be a string, as what was sent was."""
    assert (await run(_taking(annotation), {"x": sent})).content == expected
