"""A call reaches its tool with every value checked, or not at all."""

import dataclasses
import datetime
import decimal
import enum
import threading
import uuid
from typing import Annotated, Any, Literal

import pytest
from pydantic import AfterValidator, BaseModel, Field
from typing_extensions import TypedDict

from sidecall import BaseTool, InjectedToolArg, tool
from tests.kit.calls import run

CANARY = "canary-4711"


@tool
async def order(dish: str, count: int, paid: bool = False, *, key: Annotated[str, InjectedToolArg] = "k") -> str:
    """Order."""
    return f"{dish} {count} {paid} {key}"


async def test_every_mistake_is_told_at_once() -> None:
    """So that one more try is enough."""
    message = await run(order, {"count": CANARY, "paid": CANARY})

    assert message.content == (
        "dish: Field required (string)\ncount: Input should be an integer\npaid: Input should be a boolean"
    )
    assert [error["loc"] for error in message.response_metadata["error"]["errors"]] == [["dish"], ["count"], ["paid"]]
    assert CANARY not in message.model_dump_json()


class Level(enum.IntEnum):
    """How much."""

    LOW = 1
    HIGH = 2


class Person(BaseModel):
    """Somebody."""

    name: str = Field(min_length=2, description="Given name.")
    friends: list["Person"] = []


class Cat(BaseModel):
    """A cat."""

    kind: Literal["cat"]


class Dog(BaseModel):
    """A dog."""

    kind: Literal["dog"]


class Options(TypedDict, total=False):
    """A typed dict."""

    depth: int


@dataclasses.dataclass
class Point:
    """A dataclass."""

    x: int
    y: int = 0


@pytest.mark.parametrize(
    ("annotation", "sent", "schema", "arrives"),
    [
        (Level, 2, {"$ref": "#/$defs/Level"}, "<Level.HIGH: 2>"),
        (Literal["a", 1], 1, {"enum": ["a", 1]}, "1"),
        (int | str, "1", {"anyOf": [{"type": "integer"}, {"type": "string"}]}, "'1'"),
        (int | None, None, {"anyOf": [{"type": "integer"}, {"type": "null"}]}, "None"),
        (dict[str, float], {"a": 1}, {"additionalProperties": {"type": "number"}, "type": "object"}, "{'a': 1.0}"),
        (tuple[int, str], [1, "a"], {
            "maxItems": 2, "minItems": 2, "prefixItems": [{"type": "integer"}, {"type": "string"}], "type": "array",
        }, "(1, 'a')"),
        (set[int], [1, 1], {"items": {"type": "integer"}, "type": "array", "uniqueItems": True}, "{1}"),
        (decimal.Decimal, "1.10", {"anyOf": [{"type": "number"}, {"type": "string"}]}, "Decimal('1.10')"),
        (bytes, "é", {"format": "binary", "type": "string"}, "b'\\xc3\\xa9'"),
        (datetime.timedelta, "PT90S", {"format": "duration", "type": "string"}, "datetime.timedelta(seconds=90)"),
        (uuid.UUID, "00000000-0000-0000-0000-000000000001", {"format": "uuid", "type": "string"},
         "UUID('00000000-0000-0000-0000-000000000001')"),
        (Options, {"depth": "2"}, {"$ref": "#/$defs/Options"}, "{'depth': 2}"),
        (Point, {"x": "1"}, {"$ref": "#/$defs/Point"}, "Point(x=1, y=0)"),
        (Person, {"name": "Bo", "friends": [{"name": "Al"}]}, {"$ref": "#/$defs/Person"},
         "Person(name='Bo', friends=[Person(name='Al', friends=[])])"),
        (Annotated[Cat | Dog, Field(discriminator="kind")], {"kind": "dog"}, {
            "discriminator": {"mapping": {"cat": "#/$defs/Cat", "dog": "#/$defs/Dog"}, "propertyName": "kind"},
            "oneOf": [{"$ref": "#/$defs/Cat"}, {"$ref": "#/$defs/Dog"}],
        }, "Dog(kind='dog')"),
    ],
)  # fmt: skip
async def test_a_value_arrives_as_the_annotated_type(
    annotation: Any, sent: Any, schema: dict[str, Any], arrives: str
) -> None:
    """And its schema says what may be sent."""

    async def take(x: Any) -> str:
        """Take."""
        return repr(x)

    take.__annotations__["x"] = annotation
    offered: BaseTool = tool(take)

    message = await run(offered, {"x": sent})

    assert offered.compiled.args_schema.json_schema["properties"] == {"x": schema}
    assert message.content == arrives


def _name_thread(value: str) -> str:
    return f"{threading.current_thread().name.rpartition('_')[0]} {len(value)}"


@tool
async def read_text(text: Annotated[str, AfterValidator(_name_thread)]) -> str:
    """Say in which thread a text was read, and how long it is."""
    return text


@pytest.mark.parametrize(("length", "expected"), [(60_000, " 60000"), (70_000, "sidecall-arguments 70000")])
async def test_long_texts_are_read_in_a_thread(length: int, expected: str) -> None:
    """Some types, such as patterns, take seconds for them."""
    message = await run(read_text, {"text": "x" * length})

    assert message.content == expected
