"""What tools return, each value with the JSON that a model should read."""

import base64
import dataclasses
import datetime
import decimal
import enum
import math
import pathlib
import uuid
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from tests.properties.json_values import numbers, texts

# A pair of what is returned and what is read.
Pair = tuple[Any, Any]
Pairs = st.SearchStrategy[Pair]


class Color(enum.Enum):
    """Name by text."""

    RED = "red"


class Level(enum.IntEnum):
    """Name by number."""

    LOW = 1


class Size(enum.StrEnum):
    """Be text."""

    BIG = "L"


class Place(BaseModel):
    """Hold what a model holds, under another name."""

    # A model says bytes as it likes; this is how all else says them.
    model_config = ConfigDict(ser_json_bytes="base64")

    inner: Any = Field(serialization_alias="within")


@dataclasses.dataclass
class Box:
    """Hold what a dataclass holds."""

    inner: Any


@dataclasses.dataclass(frozen=True, slots=True)
class Slotted:
    """Hold what a dataclass without a dictionary holds."""

    inner: Any


class Row(NamedTuple):
    """Hold what a named tuple holds."""

    inner: Any


def _paired(values: st.SearchStrategy[Any], read: Callable[[Any], Any]) -> Pairs:
    return values.map(lambda value: (value, read(value)))


def _same(value: Any) -> Any:
    return value


_floats = st.floats() | st.sampled_from([math.nan, math.inf, -math.inf, -0.0, 1e308, 5e-324])

leaves: Pairs = st.one_of(
    _paired(st.none() | st.booleans() | numbers | texts(), _same),
    _paired(_floats, lambda value: value if math.isfinite(value) else None),
    _paired(st.dates(), lambda value: value.isoformat()),
    _paired(st.datetimes(), lambda value: value.isoformat()),
    _paired(st.datetimes(timezones=st.just(datetime.UTC)), lambda value: value.isoformat().replace("+00:00", "Z")),
    _paired(st.times(), lambda value: value.isoformat()),
    _paired(st.just(datetime.timedelta(minutes=5)), lambda _: "PT5M"),
    _paired(st.decimals(allow_nan=False, allow_infinity=False), str),
    _paired(st.uuids(), str),
    _paired(st.binary(max_size=8), lambda value: base64.urlsafe_b64encode(value).decode()),
    _paired(st.sampled_from([Color.RED, Level.LOW, Size.BIG]), lambda value: value.value),
    _paired(st.just(pathlib.PurePosixPath("a/b")), str),
)


def _listed(make: Callable[[list[Any]], Any]) -> Callable[[list[Pair]], Pair]:
    return lambda pairs: (make([value for value, _ in pairs]), [read for _, read in pairs])


def _held(make: Callable[[Any], Any], key: str | int) -> Callable[[Pair], Pair]:
    return lambda pair: (make(pair[0]), [pair[1]] if key == 0 else {key: pair[1]})


def _mapped(make: Callable[[dict[str, Any]], Any]) -> Callable[[dict[str, Pair]], Pair]:
    return lambda pairs: (
        make({key: value for key, (value, _) in pairs.items()}),
        {key: read for key, (_, read) in pairs.items()},
    )


# Keys that are no text; NaN and None are left out, for which Python and pydantic have different texts.
keys: Pairs = st.sampled_from(
    [
        (1, "1"),
        (1.5, "1.5"),
        (True, "true"),
        (datetime.date(2020, 1, 2), "2020-01-02"),
        (uuid.UUID(int=7), "00000000-0000-0000-0000-000000000007"),
        (Color.RED, "red"),
        (Level.LOW, "1"),
        (Size.BIG, "L"),
        (decimal.Decimal("1.5"), "1.5"),
        ((1, "a"), "1,a"),
    ]
)


def _around(inner: Pairs) -> Pairs:
    several = st.lists(inner, max_size=3)
    return st.one_of(
        *(several.map(_listed(make)) for make in (list, tuple, deque)),
        several.map(_listed(iter)).map(_held(lambda parts: {"items": parts}, "items")),
        *(st.dictionaries(texts(), inner, max_size=3).map(_mapped(make)) for make in (dict, OrderedDict)),
        inner.map(_held(lambda value: Place(inner=value), "within")),
        st.builds(lambda key, it: ({key[0]: it[0]}, {key[1]: it[1]}), keys, inner),
        inner.map(_held(Box, "inner")),
        inner.map(_held(Slotted, "inner")),
        inner.map(_held(Row, 0)),
        leaves.map(_held(lambda value: frozenset([value]), 0)),
        leaves.map(_held(lambda value: {value}, 0)),
    )


mixtures: Pairs = st.recursive(leaves, _around, max_leaves=6)
