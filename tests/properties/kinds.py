"""The types that parameters have: each knows its source, what JSON it takes and refuses, and what the function gets."""

import datetime
import decimal
import pathlib
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

from tests.properties.json_values import Values, any_json, numbers, texts

# Rejected values are made of these, so that they can be recognized wherever they come out.
MARK = "s3cr3t-0f-the-caller"
MARKED_INTEGER = 918273
MARKED_NUMBER = 918273.645
_WRONG = {"string": MARK, "number": MARKED_NUMBER, "array": [MARK], "object": {"key": MARK}}


@dataclass(frozen=True, kw_only=True, repr=False)
class Kind:
    """Describe one type as an author writes it.

    `good` and `bad` draw JSON that it takes and refuses; `fits` judges what the function gets. `takes` are the JSON
    types that it may accept, what pydantic coerces included. `default` is the source of a default value.
    `definitions` are the classes that the source needs. `exact` says that the advertised schema allows nothing that
    the type refuses; `sayable` that OpenAI's strict form can say it, unless it is within something that it cannot.
    """

    source: str
    good: Values
    fits: Callable[[Any], bool]
    takes: frozenset[str]
    misfits: Values = st.nothing()  # noqa: RUF009  strategies are immutable
    definitions: tuple[str, ...] = ()
    default: str | None = None
    hashable: bool = True
    exact: bool = True
    sayable: bool = True

    def __repr__(self) -> str:
        return self.source

    @property
    def bad(self) -> Values:
        """Draw what it refuses; nothing when it takes everything.

        Null is another matter: for what may be left out it means just that.
        """
        wrong = [value for shape, value in _WRONG.items() if shape not in self.takes]
        return self.misfits | st.sampled_from(wrong) if wrong else self.misfits

    @property
    def bad_or_null(self) -> Values:
        """Draw what it refuses where it cannot be left out."""
        return self.bad if "null" in self.takes else self.bad | st.none()


def _leaf(source: str, python: type, good: Values, takes: str, default: str, **rest: Any) -> Kind:
    def fits(value: Any) -> bool:
        return type(value) is python

    return Kind(source=source, good=good, takes=frozenset(takes.split()), default=default, **{"fits": fits, **rest})


_marks = st.just(MARK)

_PLAIN = (
    _leaf("int", int, st.integers(-(2**70), 2**70), "", "3"),
    _leaf("float", float, numbers, "number", "0.5"),
    _leaf("bool", bool, st.booleans(), "", "True"),
    _leaf("str", str, texts(), "string", "'said'"),
    _leaf("None", type(None), st.none(), "null", "None"),
)

_datetimes = st.datetimes().map(lambda moment: moment.isoformat())
_durations = st.sampled_from(["PT5M", "P1DT2H", "PT0.25S"])
_decimals = st.sampled_from(["1", "-2.50", "1e3", 4, 0.25])

_TEXTUAL = (
    _leaf("datetime.datetime", datetime.datetime, _datetimes, "string number", "datetime.datetime(2020, 1, 2, 3)"),
    _leaf("datetime.date", datetime.date, st.dates().map(str), "string number", "datetime.date(2020, 1, 2)"),
    _leaf("datetime.time", datetime.time, st.times().map(str), "string number", "datetime.time(3, 4)"),
    _leaf("datetime.timedelta", datetime.timedelta, _durations, "string number", "datetime.timedelta(minutes=5)"),
    _leaf("uuid.UUID", uuid.UUID, st.uuids().map(str), "string", "uuid.UUID(int=7)"),
    # The schema allows any text here, since pydantic names no pattern.
    _leaf("decimal.Decimal", decimal.Decimal, _decimals, "string number", "decimal.Decimal('0.1')", exact=False),
)

_LOOSE = (
    _leaf("bytes", bytes, texts(), "string", "b'raw'"),
    _leaf("pathlib.Path", type(pathlib.Path()), texts(), "string", "pathlib.Path('here')"),
)


def _within(
    source: str, field: str, good: Values, bad: Values, takes: str, fits: Callable[[Any], bool], exact: bool = True
) -> Kind:
    return Kind(
        source=f"Annotated[{source}, Field({field})]",
        good=good,
        misfits=bad,
        takes=frozenset(takes.split()),
        fits=fits,
        exact=exact,
    )


_huge = st.just(MARKED_INTEGER)

_BOUNDED = (
    _within("int", "ge=1, le=9", st.integers(1, 9), _huge, "", lambda it: type(it) is int and 1 <= it <= 9),
    _within("int", "multiple_of=5", st.just(15), _huge, "", lambda it: type(it) is int and it % 5 == 0),
    # 1.0 is an integer in JSON Schema.
    _within("int", "strict=True", st.integers(), st.nothing(), "", lambda it: type(it) is int, exact=False),
    _within("float", "gt=0, lt=10", st.just(9.5), _huge, "number", lambda it: type(it) is float and 0 < it < 10),
    _within(
        "float",
        "multiple_of=0.5",
        st.just(1.5),
        st.just(MARKED_NUMBER),
        "number",
        lambda it: type(it) is float and it % 0.5 == 0,
    ),
    _within(
        "str",
        "min_length=2, max_length=5",
        texts(2, 5),
        _marks,
        "string",
        lambda it: type(it) is str and 2 <= len(it) <= 5,
    ),
    _within(
        "str",
        "pattern='^[a-z]{2,4}$'",
        st.sampled_from(["ab", "zzzz"]),
        _marks,
        "string",
        lambda it: type(it) is str and re.fullmatch("[a-z]{2,4}", it) is not None,
    ),
)


def _chosen(source: str, definition: str | None, choices: list[Any], fits: Callable[[Any], bool], default: str) -> Kind:
    return Kind(
        source=source,
        definitions=(definition,) if definition else (),
        good=st.sampled_from(choices),
        takes=frozenset({"null"} if None in choices else ()),
        fits=fits,
        default=default,
    )


def _is(name: str) -> Callable[[Any], bool]:
    return lambda value: type(value).__name__ == name


_CHOSEN = (
    _chosen("Literal['one', 'two']", None, ["one", "two"], lambda it: it in ("one", "two"), "'two'"),
    _chosen("Literal[1, 'a', None]", None, [1, "a", None], lambda it: it in (1, "a", None), "None"),
    _chosen("Literal['only']", None, ["only"], lambda it: it == "only", "'only'"),
    _chosen(
        "Color",
        "class Color(enum.Enum):\n    RED = 'red'\n    SKY = 'sky blue'",
        ["red", "sky blue"],
        _is("Color"),
        "Color.RED",
    ),
    _chosen("Level", "class Level(enum.IntEnum):\n    LOW = 1\n    HIGH = 2", [1, 2], _is("Level"), "Level.HIGH"),
    _chosen("Size", "class Size(str, enum.Enum):\n    BIG = 'L'", ["L"], _is("Size"), "Size.BIG"),
    _chosen("Mixed", "class Mixed(enum.Enum):\n    TEXT = 'a'\n    NUMBER = 7", ["a", 7], _is("Mixed"), "Mixed.TEXT"),
)

ANYTHING = Kind(
    source="Any",
    good=any_json,
    fits=lambda _: True,
    takes=frozenset({*_WRONG, "null"}),
    default="()",
    hashable=False,
    sayable=False,
)

_MISFITTING = tuple(replace(kind, misfits=_marks) for kind in _TEXTUAL)
leaves = st.sampled_from([*_PLAIN, *_MISFITTING, *_LOOSE, *_BOUNDED, *_CHOSEN, ANYTHING])
