"""Large values are written in pieces, and say what they say at once."""

import asyncio
import json
import math
from dataclasses import dataclass
from typing import Any

import pytest
from pydantic import BaseModel
from pydantic_core import to_json

from sidecall.kernel.json_data.large_values import PieceWriter, TooLong, is_bulky, is_long, write_pieces
from sidecall.kernel.json_data.to_json import to_plain, to_text, to_written

_ROWS = [{"number": number, "text": f"value {number} é"} for number in range(12_000)]
VALUES = {
    "list": _ROWS,
    "tuple": tuple(_ROWS),
    "list in an object": {"rows": _ROWS, "count": 1, "none": []},
    "object of many names": {f"name {number}": [number] for number in range(12_000)},
    "lists in a list": [_ROWS[:300]] * 50,
    "lists in lists": [[[[1] * 30] * 30] * 30] * 2,
    "long lists in objects in a list": [{"rows": _ROWS[:9_000]}, {"rows": _ROWS[:9_000]}, {}],
    "an object of objects of lists": {"a": {"b": {"c": _ROWS}}, "d": {"e": {"f": [[_ROWS]]}}},
    "long texts": ["é" * 100_000] * 40,
    "one long list": [[1] * 30_000],
    "one name": {"é": {"a": _ROWS}},
    "numbers as names": {"rows": {number: number for number in range(12_000)}},
    "small": [1, {"a": None}],
}


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_in_pieces_is_the_value_at_once(value: Any) -> None:
    """As text, as bytes and as plain values, in a thread."""
    text = json.dumps(value, ensure_ascii=False)

    assert to_text(value) == text
    assert to_plain(value) == json.loads(text)
    assert write_pieces(value, PieceWriter(to_json, b",", b":")) == to_json(value)


def test_numbers_that_are_lost_are_told_with_their_places() -> None:
    """Those of the whole, not of a piece."""
    lost: list[tuple[str | int, ...]] = []

    plain = to_plain(
        {"a": [0.0] * 5000 + [math.nan] + [1.0] * 8000 + [[1.0, math.inf]]}, lambda _, path: lost.append(path)
    )

    assert (plain["a"][5000], plain["a"][13_001]) == (None, [1.0, None])
    assert lost == [("a", 5000), ("a", 13_001, 1)]


@pytest.mark.parametrize("write", [to_plain, to_text])
def test_what_holds_itself_has_no_json_form(write: Any) -> None:
    """However long it is."""
    value: list[Any] = [0] * 10_001
    value.append(value)

    with pytest.raises(ValueError, match="recursion"):
        write(value)


def test_on_an_event_loop_nothing_is_cut() -> None:
    """What is large is not written there."""
    written: list[Any] = []

    def write(value: Any) -> str:
        written.append(value)
        return json.dumps(value)

    async def work() -> str:
        return write_pieces(_ROWS, PieceWriter(write, ", ", ": "))

    assert asyncio.run(work()) == json.dumps(_ROWS)
    assert len(written) == 1


def test_rows_are_written_some_thousand_values_at_a_time() -> None:
    """Not one by one, which would take several times as long; what is reduced to plain values is so as well."""
    sizes: list[int] = []

    def write(value: Any) -> bytes:
        sizes.append(len(value))
        return to_json(value)

    write_pieces([{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5, "f": 6}] * 16_000, PieceWriter(write, b",", b":"))

    assert [size for size in sizes if size] == [1428] * 11 + [292]


class Crashes:
    """May not be looked into."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)


def test_nothing_of_an_authors_is_asked_how_long_it_is() -> None:
    """Only lists, objects and texts of JSON are."""
    assert not is_long(Crashes())
    assert not is_long([Crashes(), "x" * 1000])
    assert is_long([Crashes()] * 10_001)
    assert is_long({"a": ["x" * 256 * 10_001]})


class Model(BaseModel):
    """A model with many rows."""

    rows: list[int]


@dataclass
class Data:
    """A dataclass with many rows."""

    rows: list[int]


class Slotted:
    """An object without a dictionary."""

    __slots__ = ("missing", "rows")

    def __init__(self, rows: list[int]) -> None:
        """Have rows alone."""
        self.rows = rows


class Hostile(list[int]):
    """A list whose code must not be run by a look at it."""

    def __iter__(self) -> Any:
        """Never end."""
        raise AssertionError

    __len__ = __getitem__ = __iter__  # type: ignore[assignment]


class Dark:
    """An object whose attributes are code."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        """Never end."""
        raise AssertionError


@pytest.mark.parametrize(
    "make", [list, tuple, set, frozenset, Hostile, lambda rows: Model(rows=[*rows]), lambda rows: Data([*rows]),
             lambda rows: Slotted([*rows]), lambda rows: {"a": [Data([*rows])]}, dict.fromkeys,
             lambda rows: b"x" * (256 * len(rows)), lambda rows: [Dark(), "x" * (256 * len(rows))]],
    ids=["list", "tuple", "set", "frozen set", "hostile", "model", "dataclass", "slots", "within", "dict", "bytes",
         "text"],
)  # fmt: skip
def test_what_takes_long_to_write_is_known_without_code_of_its_author(make: Any) -> None:
    """No matter what holds it."""
    assert [is_bulky(make(range(count))) for count in (10, 12_000)] == [False, True]


@pytest.mark.parametrize("write", [to_text, to_written])
def test_what_has_no_end_is_not_written(write: Any) -> None:
    """A few lists in each other have more members than any machine can write."""
    value: list[Any] = [1] * 10
    for _ in range(12):
        value = [value] * 10

    with pytest.raises(TooLong):
        write(value)
