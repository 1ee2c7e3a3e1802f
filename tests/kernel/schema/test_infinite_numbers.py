"""Texts such as "nan" and "inf" are no numbers, wherever one is wanted."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, NamedTuple

import pytest
from pydantic import BaseModel, BeforeValidator, Field
from pydantic.v1 import BaseModel as OldModel

from sidecall import tool
from sidecall.kernel.schema import infinite_numbers
from tests.kit.calls import run


class Box(BaseModel):
    """A box."""

    size: float = 1.0
    inner: "Box | None" = None


@dataclass
class Point:
    """A point."""

    x: float


class Span(NamedTuple):
    """A span."""

    low: float
    high: float


class OldBox(OldModel):
    """A box of pydantic 1."""

    size: float = 1.0


def taking(kind: Any) -> Any:
    """Make a tool that takes one argument."""

    def take(p: Any) -> str:
        """Take."""
        return repr(p)

    take.__annotations__["p"] = kind
    return tool(take)


SIZES = ["nan", "NaN", " nan ", "inf", "-inf", "+Infinity", "-Infinity", "INF", "1e400", "\u00a0nan"]
NONE = "Input should be a finite number"


@pytest.mark.parametrize("text", SIZES)
async def test_a_text_that_is_no_number_of_json_is_refused(text: str) -> None:
    """In every spelling."""
    assert (await run(taking(float), {"p": text})).content == f"p: {NONE}"


@pytest.mark.parametrize(
    ("kind", "put", "place"),
    [
        (float | None, lambda text: text, "p"),
        (float | int, lambda text: text, "p"),
        (Annotated[float, Field(gt=0)], lambda text: text, "p"),
        (Decimal, lambda text: text, "p"),
        (list[float], lambda text: [1, text], "p[1]"),
        (set[float], lambda text: [text], "p[0]"),
        (tuple[int, float], lambda text: [1, text], "p[1]"),
        (dict[str, float], lambda text: {"a": text}, "p.a"),
        (dict[str, list[float | None]], lambda text: {"a": [None, text]}, "p.a[1]"),
        (Box, lambda text: {"size": text}, "p.size"),
        (Box, lambda text: {"inner": {"size": text}}, "p.inner.size"),
        (Point, lambda text: {"x": text}, "p.x"),
        (Span, lambda text: [1, text], "p[1]"),
        (OldBox, lambda text: {"size": text}, "p.size"),
    ],
)
async def test_it_is_refused_at_any_depth(kind: Any, put: Callable[[str], Any], place: str) -> None:
    """By its place."""
    assert (await run(taking(kind), {"p": put("inf")})).content == f"{place}: {NONE}"


async def test_a_key_is_refused_too() -> None:
    """Of which the schema says nothing."""
    message = await run(taking(dict[float, int]), {"p": {"nan": 1}})

    assert message.content == "p.nan: the key has to be a finite number"


async def test_free_arguments_are_refused_too() -> None:
    """Of a type."""

    @tool
    def take(**rates: float) -> str:
        """Take."""
        return str(rates)

    assert (await run(take, {"a": "nan"})).content == f"a: {NONE}"
    assert (await run(take, {"a": "1.5"})).content == "{'a': 1.5}"


@pytest.mark.parametrize(
    ("kind", "sent", "taken"),
    [
        (str, "nan", "'nan'"),
        (float | str, "nan", "'nan'"),
        (list[str], ["inf"], "['inf']"),
        (Any, "inf", "'inf'"),
        (float, "1e3", "1000.0"),
        (Annotated[float, BeforeValidator(lambda it: 99 if it == "inf" else it)], "inf", "99.0"),
    ],
)
async def test_a_text_that_is_wanted_stays_one(kind: Any, sent: Any, taken: str) -> None:
    """And an author may read it as a number that there is."""
    assert (await run(taking(kind), {"p": sent})).content == taken


@pytest.mark.parametrize("text", ["i_nf", "n_a_n", "-_inf", "1_e999", "1e_999", "infi_nity"])
async def test_what_pydantic_reads_over_is_read_over(text: str) -> None:
    """Single underscores, also where Python has none."""
    assert (await run(taking(float), {"p": text})).content == f"p: {NONE}"


@pytest.mark.parametrize(
    "text",
    ["name 1", "Nancy", "info", "in e", "1.e", "1e", "1 Downing Street", "+e9", "\u00a0e1", "1" * 308, "e" * 400],
)
def test_texts_that_begin_like_a_number_are_told_from_one(text: str) -> None:
    """So that rows of names are not gone through twice."""
    assert not infinite_numbers._may_hold([[{"a": [text]}], {text: None}])


@pytest.mark.parametrize("text", [*SIZES, "9" * 309, "-" + "9" * 400, "." + "1" * 309 + "e999", "1E+999"])
@pytest.mark.parametrize("put", [lambda it: [it], lambda it: [[{"a": it}]], lambda it: [{"b": {it: 1}}, 2]])
def test_texts_that_are_one_are_seen(text: str, put: Callable[[str], Any]) -> None:
    """At any depth, and as keys."""
    assert infinite_numbers._may_hold(put(text))
