"""Each result of a tool is said as JSON that all parsers read, or refused."""

import math
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import IntEnum, StrEnum
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any, NamedTuple

import pytest
from pydantic import BaseModel, Field, v1
from pydantic_core import to_json

from sidecall.kernel.core.command import Command
from sidecall.kernel.core.errors import ToolException
from sidecall.kernel.core.messages import ToolCall, ToolMessage
from sidecall.kernel.json_data.large_values import is_bulky
from sidecall.kernel.json_data.to_json import dump_plain, render_failure, replace_surrogates, to_plain, to_text


class Reading(BaseModel):
    """A model with an alias and a number that may be none."""

    value: float = Field(alias="theValue")


class Old(v1.BaseModel):
    """A model of pydantic 1, with one inside."""

    value: float = v1.Field(alias="theValue")
    inner: "Old | None" = None
    at: datetime = datetime(2030, 1, 2)


Old.update_forward_refs()


@dataclass
class Point:
    """A plain dataclass."""

    x: float


class Shade(StrEnum):
    """A text with a name."""

    DARK = "dark"


class Level(IntEnum):
    """A number with a name."""

    HIGH = 3


class Place(NamedTuple):
    """A series with names."""

    x: int
    y: int


HUGE = pytest.param(10**5000, id="more digits than Python writes")


class Odd:
    """Has a text of its own, and cannot say it."""

    def __str__(self) -> str:
        raise TypeError("no text")


class Numeric:
    """A value of numpy, as far as that can be seen without it."""

    def __init__(self, value: Any, kind: str, ndim: int = 0) -> None:
        self._value = value
        self.dtype = SimpleNamespace(kind=kind)
        self.ndim = ndim

    def item(self) -> Any:
        """Return it as a value of Python's own."""
        return self._value

    tolist = item

    def __float__(self) -> float:
        return float(self._value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._value)

    def __str__(self) -> str:
        return str(self._value)


Numeric.__module__ = "numpy"


class NaTType(datetime):
    """What tables of pandas have in the place of a time."""

    year = property(lambda _: math.nan)  # type: ignore[assignment]


class NAType:
    """What they have in the place of anything else."""


NAT = NaTType(2030, 1, 1)
AT_NO_TIME = Numeric("NaT", "M")


class Visit(BaseModel):
    """A model that a table's row fits."""

    at: datetime


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, "ü"]}, '{"a": [1, "ü"]}'),  # spaced as LangChain does
        (None, "null"),
        ({"a": range(2), "b": {"x": 1}.keys()}, '{"a": [0, 1], "b": ["x"]}'),
        ([{"x": 1}.values(), {"x": 1}.items(), memoryview(b"a")], '[[1], [["x", 1]], [97]]'),
        (math.nan, "null"),
        ({"a": [math.inf, 1.5]}, '{"a": [null, 1.5]}'),
        (Reading(theValue=math.nan), '{"theValue": null}'),  # inside a model too
        (Point(1.5), '{"x": 1.5}'),
        (
            [Old(theValue=math.nan, inner=Old(theValue=1))],
            '[{"theValue": null, "inner": {"theValue": 1.0, "inner": null, "at": "2030-01-02T00:00:00"},'
            ' "at": "2030-01-02T00:00:00"}]',
        ),
        (datetime(2030, 1, 2, tzinfo=UTC), "2030-01-02T00:00:00Z"),  # a text needs no quotes
        ({"at": datetime(2030, 1, 2, tzinfo=UTC)}, '{"at": "2030-01-02T00:00:00Z"}'),
        (PurePosixPath("a/b"), "a/b"),  # a type that says how it is written
        ([ValueError("boom")], '["boom"]'),
        ({1: 2, None: 3}, '{"1": 2, "null": 3}'),
        (["\ud800"], '["?"]'),  # a lone surrogate has no UTF-8 form
        ([{3}, b"\x00"], '[[3], "AA=="]'),
        ({"n": Numeric(3, "i"), "yes": Numeric(True, "b")}, '{"n": 3, "yes": true}'),
        (Numeric(False, "b"), "false"),
        (
            [Numeric(1.5, "f"), Numeric(math.nan, "f"), Numeric("2030-01-01", "M"), AT_NO_TIME],
            '[1.5, null, "2030-01-01", null]',
        ),
        ([Numeric([1, 2], "i", 1), Numeric([AT_NO_TIME], "M", 1)], "[[1, 2], [null]]"),
        ([{"t": NAT, "of": (NAT, 1)}, {"other": NAType()}], '[{"t": null, "of": [null, 1]}, {"other": null}]'),
        (Visit.model_construct(at=NAT), '{"at": null}'),
    ],
)
def test_values_are_said_as_json_text(value: Any, text: str) -> None:
    """Never as a Python repr."""
    assert to_text(value) == text


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Reading(theValue=1.5), {"theValue": 1.5}),
        ([Point(math.inf)], [{"x": None}]),
        ({"a": "\ud800"}, {"a": "?"}),
        ((1, 2), [1, 2]),
        (OrderedDict(a=1, b=(None, True)), {"a": 1, "b": [None, True]}),
        ({None: 1, True: 2, 1.5: 3, 7: 4}, {"null": 1, "true": 2, "1.5": 3, "7": 4}),
        ({1: "a", "1": "b"}, {"1": "b"}),
        ({"a": [Shade.DARK, Level.HIGH, Place(1, 2)]}, {"a": ["dark", 3, [1, 2]]}),
        ({"said": (it for it in "ab"), "nan": math.nan}, {"said": ["a", "b"], "nan": None}),
        ([{"said": (it for it in "ab")}, "\ud800", PurePosixPath("a")], [{"said": ["a", "b"]}, "?", "a"]),
        ({"\ud800": {"none": {None: math.inf}}}, {"?": {"none": {"null": None}}}),
        ([1e16, 1e-7, -0.0, 10**30], [1e16, 1e-7, -0.0, 10**30]),
        ([b"\x00", {3}, datetime(2030, 1, 2, tzinfo=UTC)], ["AA==", [3], "2030-01-02T00:00:00Z"]),
    ],
)
def test_values_are_reduced_to_what_json_has(value: Any, plain: Any) -> None:
    """So that an artifact survives the wire."""
    assert to_plain(value) == plain


@pytest.mark.parametrize("value", [object(), CIRCLE, {"a": object()}, Odd(), HUGE])
def test_what_json_cannot_say_is_refused(value: Any) -> None:
    """With a ValueError and nothing else."""
    with pytest.raises(ValueError):
        to_text(value)
    with pytest.raises(ValueError):
        to_plain(value)


@pytest.mark.parametrize(("text", "sent"), [("plain", "plain"), ("ü", "ü"), ("a\udfffb", "a?b")])
def test_text_can_always_be_sent(text: str, sent: str) -> None:
    """As UTF-8."""
    assert replace_surrogates(text) == sent


def test_numbers_that_json_does_not_have_are_told() -> None:
    """With the way to each, inside models too."""
    told: list[Any] = []

    to_text({"a": [1.5, math.inf], "b": Reading(theValue=-math.inf)}, lambda *lost: told.append(lost))
    to_plain([Point(math.inf)], lambda *lost: told.append(lost))

    assert told == [(math.inf, ("a", 1)), (-math.inf, ("b", "theValue")), (math.inf, (0, "x"))]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("No such city.",), "No such city."),
        # LangChain's text for an exception without one
        ((), "Tool execution error"),
        # which a model would take for an answer
        (("",), "Tool execution error"),
        ((" \n",), "Tool execution error"),
        # only the first argument is the content
        (("first", "second"), "first"),
        ((404,), "404"),
        ((["a", "b"],), '["a", "b"]'),
        # as LangChain writes JSON
        (({"city": "Zürich", "code": 7},), '{"city": "Zürich", "code": 7}'),
    ],
)
def test_the_first_argument_of_a_tool_exception_is_its_content(arguments: tuple[object, ...], expected: str) -> None:
    """Text is passed on as it is, anything else as JSON."""
    assert render_failure(ToolException(*arguments)) == expected


@pytest.mark.parametrize(
    "argument",
    [{"raw": b"\xff"}, {"text": "\ud800"}, {"number": math.nan}, object()],
    ids=["bytes", "surrogate", "nan", "object"],
)
def test_a_tool_exception_with_odd_contents_still_has_a_text(argument: object) -> None:
    """An error that cannot be worded would become a crash of the server."""
    assert render_failure(ToolException(argument))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, False),
        ("x" * 1000, False),
        ("x" * 10_000_000, True),
        ([0] * 5_000, False),
        ([0] * 20_000, True),
        ([{"a": index, "b": [index]} for index in range(5_000)], True),
        (("short", [0] * 20_000), True),
        (ToolMessage(content="", tool_call_id="1", artifact={"a": [0] * 20_000}), True),
        (Command(update={"rows": [0] * 20_000}), True),
    ],
    ids=["null", "text", "long text", "list", "long list", "rows", "pair", "message", "command"],
)
def test_it_is_known_what_others_should_not_wait_for(value: object, expected: bool) -> None:
    """Without looking at all of it."""
    assert is_bulky(value) is expected


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"a": [1, 2.5, True, None], "b": {"c": "d"}}, b'{"a":[1,2.5,true,null],"b":{"c":"d"}}'),
        ('\x00\x1f"\\/\u2028é', b'"\\u0000\\u001f\\"\\\\/\xe2\x80\xa8\xc3\xa9"'),
        ([2**70, -(2**70), 1e-07, -0.0], b"[1180591620717411303424,-1180591620717411303424,1e-7,-0.0]"),
        ([math.nan, math.inf], b"[null,null]"),
        (ToolCall(name="a", args={}, id="b"), b'{"name":"a","args":{},"id":"b","type":"tool_call"}'),
    ],
    ids=["values", "escapes", "numbers", "no numbers", "a model"],
)
def test_answers_are_written_as_pydantic_writes_them(value: Any, text: bytes) -> None:
    """In less time."""
    assert dump_plain(value) == text == to_json(value, inf_nan_mode="null")
