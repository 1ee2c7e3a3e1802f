"""Every shape that a parameter's type can have in JSON Schema, and values of it as JSON text."""

import datetime
import decimal
import enum
import ipaddress
import pathlib
import re
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal, NamedTuple, NotRequired

from pydantic import (
    AnyUrl,
    AwareDatetime,
    Base64Bytes,
    BaseModel,
    ConfigDict,
    Discriminator,
    Field,
    Json,
    JsonValue,
    RootModel,
    SecretStr,
    Tag,
)
from typing_extensions import TypedDict

from sidecall import StructuredTool, tool

Schema = dict[str, Any]


@dataclass(frozen=True)
class Shape:
    """A type, and JSON texts of values: such that it takes, and such that a form must not lose all the same."""

    name: str
    annotation: Any
    values: tuple[str, ...]


class Color(enum.Enum):
    """Colours."""

    RED = "red"
    SKY = "sky blue"


class Level(enum.IntEnum):
    """Numbers with names."""

    LOW = 1
    HIGH = 2


class Point(BaseModel):
    """A place, nothing else of which is known."""

    model_config = ConfigDict(extra="forbid")

    x: int
    y: int = 0


class Open(BaseModel):
    """An object that takes more than it lists."""

    model_config = ConfigDict(extra="allow")

    name: str


class Typed(TypedDict):
    """A dictionary with known keys."""

    city: str
    zip: NotRequired[str]


class Pair(NamedTuple):
    """A tuple with names."""

    left: int
    right: str = "r"


@dataclass
class Size:
    """A class of the standard library."""

    wide: float
    high: float | None = None


class Card(BaseModel):
    """One way to pay."""

    kind: Literal["card"] = "card"
    number: str


class Transfer(BaseModel):
    """Another way to pay."""

    kind: Literal["transfer"]
    iban: str
    urgent: bool = False


class Cat(BaseModel):
    """Told from a dog by its members only."""

    lives: int


class Dog(BaseModel):
    """Told from a cat by its members only."""

    tricks: list[str]


class Tree(BaseModel):
    """A type that holds itself in a list."""

    name: str
    children: list["Tree"] = []


class Chain(BaseModel):
    """A type that holds itself, or nothing, and has to say which."""

    item: int
    next: "Chain | None"


class Line(BaseModel):
    """A line of an order."""

    sku: Annotated[str, Field(pattern="^[A-Z]{3}-[0-9]+$", description="Three capital letters, a dash, digits.")]
    amount: Annotated[int, Field(ge=1, le=99)] = 1


class Order(BaseModel):
    """Objects in a list in an object."""

    lines: Annotated[list[Line], Field(min_length=1)]
    pay: Annotated[Card | Transfer, Field(discriminator="kind")]
    gift: Typed | None = None


class Ids(RootModel[list[int]]):
    """A list by another name."""


class Odd(BaseModel):
    """Names that JavaScript has for every object."""

    model_config = ConfigDict(populate_by_name=True)

    proto: Annotated[int, Field(alias="__proto__")]
    make: Annotated[str, Field(alias="constructor")] = "c"
    say: Annotated[str, Field(alias="toString")] = "s"
    own: Annotated[bool, Field(alias="hasOwnProperty")] = True


def _kind_of(value: Any) -> str:
    return "many" if isinstance(value, list) else "one"


def _shape(name: str, annotation: Any, *values: str) -> Shape:
    return Shape(name, annotation, values)


_BIG = "12345678901234567890"
_NODE = '{"name": "a", "children": [{"name": "b"}, {"name": "c", "children": [{"name": "", "children": []}]}]}'

_SCALARS = (
    _shape("int", int, "0", "-7", _BIG, f"-{_BIG}{_BIG}"),
    _shape("float", float, "0.5", "1e300", "-0.0", "1.0", "0.1000000000000000055511151231257827", "3"),
    _shape("bool", bool, "true", "false"),
    _shape(
        "str",
        str,
        '""',
        '"a"',
        r'"two\nlines\n"',
        r'"\r\n"',
        '" "',
        '"👩‍👩‍👧 ü 名"',
        '"null"',
        '"12"',
        r'"\u0000"',
        r'"\ud800"',
    ),
    _shape("long str", str, '"' + "long " * 2_000 + '"', '"' + r"line\n" * 500 + '"'),
    _shape("None", None, "null"),
    _shape("Any", Any, "1", '"text"', "null", "[]", "{}", '{"a": [1.50, "x", null]}', _BIG),
    _shape("JsonValue", JsonValue, "true", '[{"a": null}]', '"x"'),
    _shape("datetime", datetime.datetime, '"2026-01-31T13:30:00Z"', '"2026-01-31T13:30:00+02:00"', "1769866200"),
    _shape("aware datetime", AwareDatetime, '"2026-01-31T13:30:00.123456Z"'),
    _shape("date", datetime.date, '"2026-01-31"', '"not a date"'),
    _shape("time", datetime.time, '"13:30:00"', '"13:30:00.5Z"'),
    _shape("timedelta", datetime.timedelta, '"PT1H30M"', '"P3D"', "90", "1.50"),
    _shape("uuid", uuid.UUID, '"123e4567-e89b-12d3-a456-426614174000"'),
    _shape("Decimal", decimal.Decimal, '"1.50"', "1.50", "0.1", '"1e3"', f"{_BIG}.{_BIG}"),
    _shape("bytes", bytes, '"raw"', '""', r'"\u0007"'),
    _shape("base64", Base64Bytes, '"aGVsbG8="'),
    _shape("path", pathlib.Path, '"/tmp/a b"', '"."'),
    _shape("url", AnyUrl, '"ftp://example.org/a?b=c#d"'),
    _shape("ipv4", ipaddress.IPv4Address, '"127.0.0.1"'),
    _shape("ip of either kind", ipaddress.IPv4Address | ipaddress.IPv6Address, '"::1"', '"10.0.0.1"'),
    _shape("pattern", re.Pattern[str], r'"^a\\.b$"'),
    _shape("secret", SecretStr, '"s3cret"', '""', r'"two\nlines"'),
    _shape("json in a text", Json[list[int]], '"[1, 2]"', "[1, 2]"),
)

_BOUNDED = (
    _shape("bounded int", Annotated[int, Field(ge=1, le=9)], "1", "9", "12"),
    _shape("big bound", Annotated[int, Field(le=int(_BIG))], _BIG, f"{_BIG}0"),
    _shape("bounded float", Annotated[float, Field(gt=0, lt=10, multiple_of=0.5)], "9.5", "0.50"),
    _shape("bounded str", Annotated[str, Field(min_length=2, max_length=5, pattern="^[a-z]+$")], '"ab"', '"A"', '""'),
    _shape("Literal of texts", Literal["one", "two", ""], '"one"', '""', '"three"', "1"),
    _shape("Literal of kinds", Literal[1, "1", None, True, "true"], "1", '"1"', "null", "true", '"true"', "2"),
    _shape("const", Literal["only"], '"only"', '"other"', "null"),
    _shape("Enum", Color, '"red"', '"sky blue"', '"green"'),
    _shape("IntEnum", Level, "1", "2", '"HIGH"', "1.0"),
)

_MANY = (
    _shape("list of int", list[int], "[]", f"[1, {_BIG}, -3]", '["x", null]', "null", str(list(range(300)))),
    _shape("list of str", list[str], '[""]', r'["a", "b\nc", ""]', "[[]]", r'["\r"]'),
    _shape("list of lists", list[list[int]], "[]", "[[]]", "[[1, 2], [], [3]]"),
    _shape("short list", Annotated[list[int], Field(min_length=1, max_length=2)], "[1]", "[1, 2]", "[]", "[1, 2, 3]"),
    _shape("set", set[str], '["a", "b"]'),
    _shape("frozenset", frozenset[int], "[1, 2]"),
    _shape("tuple", tuple[int, str], '[1, "a"]', '["a", 1]', "[1]", '[1, "a", null]'),
    _shape("long tuple", tuple[float, ...], "[]", "[0.10, 2]"),
    _shape("no tuple", tuple[()], "[]", "[1]"),
    _shape("NamedTuple", Pair, '[1, "a"]', "[1]"),
    _shape("tuples or none", list[tuple[int, int]] | None, "null", "[[1, 2], [3, 4]]", "[]"),
    _shape(
        "dict of str",
        dict[str, str],
        "{}",
        '{"a": ""}',
        r'{"": "x", "a b": "y", "k\n": "z"}',
        '{"a": 1}',
        r'{"\r": "x"}',
    ),
    _shape("dict with odd keys", dict[str, int], '{"__proto__": 1, "constructor": 2, "toString": 3, "length": 4}'),
    _shape("dict by int", dict[int, str], '{"1": "a", "-2": "b", "10": ""}'),
    _shape("dict by Literal", dict[Literal["mon", "tue"], bool], '{"mon": true}', '{"sun": false}'),
    _shape("dict by pattern", dict[Annotated[str, Field(pattern="^x-")], int], '{"x-a": 1}', '{"y": 1}', "{}"),
    _shape("dict of dicts", dict[str, dict[str, list[int]]], '{"a": {"b": [1]}, "c": {}}'),
    _shape("any dict", dict[str, Any], '{"a": null, "b": [{}], "c": "text"}', "{}"),
)

_UNIONS = (
    _shape("str or none", str | None, "null", '""', '"null"', '"a"'),
    _shape("int or none", int | None, "null", "0", '"0"', _BIG),
    _shape("int or str", int | str, "1", '"1"', '""', "1.5", "true"),
    _shape("scalars", bool | int | float | str | None, "true", "1", "1.5", '"true"', "null", "[]"),
    _shape("list or one", list[str] | str, '"a"', '["a"]', "[]", "{}"),
    _shape("lists of kinds", list[int] | list[str], '["a"]', "[1]", "[]", '[1, "a"]'),
    _shape("date or text", datetime.date | str, '"2026-01-31"', '"tomorrow"'),
    _shape("models", Cat | Dog, '{"lives": 9}', '{"tricks": ["sit"]}', '{"tricks": []}', "{}", '{"lives": "x"}'),
    _shape(
        "discriminated",
        Annotated[Card | Transfer, Field(discriminator="kind")],
        '{"kind": "card", "number": "1"}',
        '{"kind": "transfer", "iban": "DE", "urgent": true}',
        '{"kind": "cash"}',
        '{"number": "1"}',
        '{"kind": "card"}',
        '{"kind": "card", "number": null, "more": 1}',
    ),
    _shape(
        "told by a function",
        Annotated[Annotated[int, Tag("one")] | Annotated[list[int], Tag("many")], Discriminator(_kind_of)],
        "1",
        "[1]",
    ),
    _shape(
        "discriminated or none",
        Annotated[Card | Transfer, Field(discriminator="kind")] | None,
        "null",
        '{"kind": "card", "number": ""}',
    ),
    _shape(
        "list of discriminated",
        list[Card | Transfer],
        '[{"kind": "card", "number": "1"}, {"kind": "transfer", "iban": ""}]',
        "[]",
    ),
)

_OBJECTS = (
    _shape("closed model", Point, '{"x": 1}', '{"x": 1, "y": 2}', '{"y": 2}', '{"x": 1, "z": 3}', "{}", "[]"),
    _shape("open model", Open, '{"name": "a"}', '{"name": "a", "more": [1], "__proto__": {"x": 1}}', '{"name": null}'),
    _shape("TypedDict", Typed, '{"city": "a"}', '{"city": "a", "zip": ""}', '{"zip": null}'),
    _shape("dataclass", Size, '{"wide": 1.0}', '{"wide": 1, "high": null}', '{"wide": -0.0, "high": 2.50}'),
    _shape(
        "odd names",
        Odd,
        '{"__proto__": 1}',
        '{"__proto__": 2, "constructor": "", "toString": "x", "hasOwnProperty": false}',
        "{}",
    ),
    _shape("RootModel", Ids, "[1, 2]", "[]"),
    _shape("tree", Tree, '{"name": "a"}', _NODE),
    _shape(
        "chain",
        Chain,
        '{"item": 1, "next": null}',
        '{"item": 1, "next": {"item": 2, "next": {"item": 3, "next": null}}}',
    ),
    _shape("trees or none", dict[str, Tree | None] | None, "null", f'{{"a": null, "b": {_NODE}}}'),
    _shape(
        "order",
        Order,
        '{"lines": [{"sku": "ABC-1"}], "pay": {"kind": "card", "number": "4"}}',
        '{"lines": [{"sku": "ABC-1", "amount": 100}, {"sku": ""}], "pay": {"kind": "transfer", "iban": ""}}',
        '{"lines": [], "pay": {"kind": "card", "number": "4"}, "gift": {"city": "x"}}',
        '{"lines": [{"sku": "A"}], "pay": {"kind": "card", "number": "4"}, "gift": null}',
    ),
)

SHAPES = (*_SCALARS, *_BOUNDED, *_MANY, *_UNIONS, *_OBJECTS)


def make_probe(annotation: Any, **options: Any) -> StructuredTool:
    """Make a tool with one parameter, `value`, of a type; `default` is its default."""

    def probe(value: Any) -> str:
        return str(value)

    probe.__annotations__["value"] = annotation
    if "default" in options:
        probe.__defaults__ = (options["default"],)
    decorate: Callable[..., StructuredTool] = tool("probe", description="Try a value.")
    return decorate(probe)


def schema_of(made: StructuredTool) -> Schema:
    """Return the schema of a tool's arguments, as `GET /tools/{name}` gives it."""
    schema: Schema = made.compiled.args_schema.json_schema
    return schema
