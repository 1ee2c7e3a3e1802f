"""What is written quickly is what the usual way writes, and all else is left to it."""

import enum
import json
import math
from collections import Counter, OrderedDict, namedtuple
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel
from pydantic_core import from_json, to_json

from sidecall.kernel.core.messages import ToolMessage, find_artifact, write_stored
from sidecall.kernel.json_data.fast_write import write_compact, write_spaced
from sidecall.kernel.json_data.large_values import WrittenJson
from sidecall.kernel.json_data.to_json import to_plain, to_text, to_written
from tests.kit.costs.steps import count_steps


class Colour(enum.StrEnum):
    """A text that is a member."""

    RED = "red"


class Level(enum.Enum):
    """No text."""

    LOW = 5


class Text(str):
    """A text of a kind of its own."""


class Row(BaseModel):
    """A model."""

    number: int = 1


Point = namedtuple("Point", "x y")
_ID = UUID("12345678-1234-5678-1234-567812345678")
# Members of rows, and whether rows with them are written quickly: as text for models, and as bytes.
MEMBERS: dict[str, tuple[Any, bool, bool]] = {
    "text": ('é "quoted" \\ \n \x1f \x7f \u2028 😀', True, True),
    "numbers": ([0, -1, 2**63, True, False, None], True, True),
    "floats": ([0.0, -0.0, 0.1, 1e-4, -0.5, 1e15, 1 / 3], True, True),
    "empty ones": ([[], {}, "", ()], True, True),
    "nested": ({"a": [{"b": {"c": [1, "x"]}}], "d": ({"e": 1.5},)}, True, True),
    "rows of rows": ([[1, "a", None], [2, "b", 1.5], []], True, True),
    "small floats": (0.00001234, False, True),
    "smaller floats": (5e-7, False, True),
    "large floats": (1.5e16, False, True),
    "negative large floats": (-1e22, False, True),
    "a small float among others": ([1.0, 0.0, -1e-5, 3.0], False, True),
    "long integers": (2**70, False, False),
    "NaN": (math.nan, False, False),
    "NaN in the middle": ([1.0, math.nan, 2.0], False, False),
    "Infinity": ([1.0, -math.inf], False, False),
    "half characters": ("\ud800", False, False),
    "dates": (
        [datetime(2026, 1, 2, 3, 4, 5, 6, UTC), datetime(2026, 1, 2), date(2026, 1, 2), time(1, 2)],
        False,
        True,
    ),
    "times": ([timedelta(days=1, seconds=5), timedelta(0)], False, True),
    "decimals": ([Decimal("1.50"), Decimal("1E+5"), Decimal(0)], False, True),
    "ids": (_ID, False, True),
    "texts of their own": (Text("x"), False, False),
    "members of enumerations": ([Colour.RED, Level.LOW], False, False),
    "bytes": (b"\xff\x00", False, False),
    "sets": ({1}, False, False),
    "named tuples": (Point(1, "y"), False, False),
    "objects of their own": (OrderedDict(a=1), False, False),
    "counters": (Counter("aab"), False, False),
    "models": (Row(), False, False),
    "numbers as names": ({1: "a"}, False, False),
    "null as a name": ({None: 1, "b": 2}, False, False),
    "truth as a name": ({True: 1, "x": 2}, False, False),
    "members as names": ({Colour.RED: 1}, False, False),
    "floats as names": ({1.5: 1}, False, False),
    "dates as names": ({date(2026, 1, 2): 1}, False, False),
}


def _rows(member: Any) -> list[dict[str, Any]]:
    # Not in the first row, and not under the first name.
    return [{"number": 1, "member": None}, {"number": 2, "member": member}, {"member": member, "more": [member]}]


@pytest.mark.parametrize(("member", "_is_text", "_is_bytes"), MEMBERS.values(), ids=MEMBERS)
def test_quickly_written_is_what_is_written_else(member: Any, _is_text: bool, _is_bytes: bool) -> None:
    """To the letter."""
    rows = _rows(member)
    spaced, compact = write_spaced(rows), write_compact(rows)

    assert spaced is None or spaced == json.dumps(rows, ensure_ascii=False)
    assert compact is None or compact == to_json(to_plain(rows))


@pytest.mark.parametrize(("member", "is_text", "is_bytes"), MEMBERS.values(), ids=MEMBERS)
def test_common_values_are_written_quickly(member: Any, is_text: bool, is_bytes: bool) -> None:
    """Those of other kinds might be written otherwise."""
    rows = _rows(member)

    assert (write_spaced(rows) is not None) == is_text
    assert (write_compact(rows) is not None) == is_bytes


@pytest.mark.parametrize(
    "value", [[], {}, [[]], {"a": {}}, [{}, {"a": 1}], [{}, {"a": Row()}], [(), [Text("a")]]], ids=repr
)
def test_what_is_empty_hides_nothing(value: Any) -> None:
    """However many columns the first row has."""
    assert write_spaced(value) in (None, json.dumps(value, default=dict))
    assert write_compact(value) is None or from_json(write_compact(value)) == to_plain(value)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [["x" * 600_000] * 2, [[1] * 30_000], {"a": list(range(30_000))}], ids=len)
def test_what_is_large_is_cut_first(value: Any) -> None:
    """One step may not take long."""
    assert write_compact(value) is None
    assert write_spaced(value) is None


@pytest.mark.parametrize(("member", "_is_text", "_is_bytes"), MEMBERS.values(), ids=MEMBERS)
def test_a_large_value_is_said_as_a_small_one(member: Any, _is_text: bool, _is_bytes: bool) -> None:
    """As text, as plain values, and as bytes, with all that is told of lost numbers."""
    small, large = _rows(member), _rows(member) + [{"number": 1, "member": "x"}] * 4_000
    lost: list[list[Any]] = [[], [], []]

    plain = to_plain(large, lambda *told: lost[0].append(told))
    written = to_written(large, lambda *told: lost[1].append(told))
    to_plain(small, lambda *told: lost[2].append(told))

    assert type(written) is WrittenJson
    assert plain[:3] == to_plain(small)
    assert written.value == plain
    assert str(lost[0]) == str(lost[1]) == str(lost[2])
    assert to_text(large).startswith(to_text(small)[:-1])


def test_an_artifact_that_is_kept_as_bytes_is_its_value_to_all_who_read_it() -> None:
    """In Python, in stored answers, and to pydantic."""
    rows = [{"number": number} for number in range(12_000)]
    message = ToolMessage(content="x", artifact=to_written(rows))

    assert type(find_artifact(message)) is WrittenJson
    assert from_json(write_stored(message))["artifact"] == rows
    assert message.model_dump()["artifact"] == rows
    assert from_json(message.model_dump_json())["artifact"] == rows
    assert message == ToolMessage(content="x", artifact=rows)
    assert message.model_copy().artifact == rows
    assert message.artifact == rows
    assert find_artifact(message) is message.artifact


def test_a_message_of_an_authors_own_class_has_an_artifact_too() -> None:
    """None, unless it is set."""

    class Own(ToolMessage):
        more: int = 1

    message = Own(content="x")

    assert (message.artifact, Own.model_fields["artifact"].default) == (None, None)
    message.artifact = [1]
    assert (message.artifact, message.model_dump()["artifact"], "artifact" in message.model_fields_set) == (
        [1],
        [1],
        True,
    )


# Functions that are entered, those of C with them, for rows of four columns; more rows take no more.
COUNTED = 100


def test_rows_are_looked_through_column_by_column() -> None:
    """However many there are."""
    rows = [{"number": number, "name": "x", "price": 1.5, "note": None} for number in range(2_000)]

    for some in (rows[:500], rows):
        steps, written = count_steps(partial(write_compact, some))
        assert written is not None
        assert steps <= COUNTED
