"""What a tool advertises is what it accepts, and its refusals never repeat what was sent."""

import datetime
import enum
import ipaddress
import json
import pathlib
import uuid
import zoneinfo
from typing import Annotated, Any, Literal

import pytest
from pydantic import AliasChoices, AliasPath, BaseModel, ConfigDict, Field, HttpUrl

from sidecall import BaseTool, InjectedToolArg, tool
from tests.kit.calls import run

CANARY = "canary-4711"


class Color(enum.Enum):
    """A color."""

    RED = "red"
    BLUE = "blue"


class Inner(BaseModel):
    """A closed object."""

    model_config = ConfigDict(extra="forbid")

    a: int
    b: int = Field(2, le=10)


class Cat(BaseModel):
    """A cat."""

    kind: Literal["cat"]
    lives: int = 9


class Dog(BaseModel):
    """A dog."""

    kind: Literal["dog"]
    tricks: int


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


def _taking(annotation: Any) -> BaseTool:
    async def take(x: Any) -> str:
        """Take."""
        return repr(x)

    take.__annotations__["x"] = annotation
    return tool(take)


@pytest.mark.parametrize(
    ("annotation", "sent", "expected"),
    [
        (int, CANARY, "x: Input should be an integer"),
        (bool, CANARY, "x: Input should be a boolean"),
        (Annotated[int, Field(ge=1)], 0, "x: Input should be an integer, at least 1"),
        (Annotated[str, Field(pattern="^a+$")], CANARY, "x: Input should be a string, matching ^a+$"),
        (Annotated[str, Field(max_length=3)], CANARY, "x: Input should be a string, at most 3 characters"),
        (
            Annotated[list[int], Field(max_length=1)],
            [1, 2],
            "x: Input should be an array of integer, at most 1 item",
        ),
        (Color, CANARY, 'x: Input should be one of "red", "blue"'),
        (Literal["a", 1], CANARY, 'x: Input should be one of "a", 1'),
        (list[int], [1, CANARY], "x[1]: Input should be an integer"),
        (Inner, CANARY, "x: Input should be an object {a, b?}"),
        (dict[str, int], CANARY, "x: Input should be an object"),
        (Inner, {"a": 1, "b": 11}, "x.b: Input should be an integer, at most 10"),
        (Inner | int, [CANARY], "x: Input should be an object {a, b?} or integer"),
        (Pet, {"kind": CANARY}, 'x.kind: Input should be one of "cat", "dog"'),
        (Pet, {}, 'x: send either {kind: "cat", lives?} or {kind: "dog", tricks}'),
        (Pet, {"tricks": []}, 'x.kind: Field required (one of "cat", "dog"); did you mean "dog"?'),
        (datetime.date, CANARY, "x: Input should be a date as YYYY-MM-DD, such as 2026-03-14"),
        (uuid.UUID, CANARY, "x: Input should be a UUID, such as 123e4567-e89b-42d3-a456-426614174000"),
        (HttpUrl, CANARY, "x: Input should be a URL, such as https://example.com/page"),
        (HttpUrl, f"ftp://{CANARY}", "x: URL scheme should be 'http' or 'https'"),
        (ipaddress.IPv4Address, CANARY, "x: Input is not a valid IPv4 address"),
        (Annotated[int, Field(strict=True)], CANARY, "x: Input should be an integer"),
    ],
)
async def test_a_refusal_is_one_line_without_what_was_sent(annotation: Any, sent: Any, expected: str) -> None:
    """The rejected value may be a secret."""
    message = await run(_taking(annotation), {"x": sent})

    assert message.content == expected
    assert message.status == "error"
    assert CANARY not in message.model_dump_json()


async def test_an_unknown_time_zone_is_not_repeated() -> None:
    """Pydantic's own sentence would."""
    message = await run(_taking(zoneinfo.ZoneInfo), {"x": CANARY})

    assert message.status == "error"
    assert CANARY not in message.model_dump_json()


async def test_a_refused_path_is_explained_without_python() -> None:
    """A model has no classes."""
    message = await run(_taking(pathlib.Path), {"x": 1})

    assert message.status == "error"
    assert "<class" not in str(message.content)


async def test_a_refusal_can_be_read_by_programs() -> None:
    """Where, which rule and the sentence stand in response_metadata."""
    message = await run(_taking(int), {"x": CANARY})

    assert message.response_metadata["error"] == {
        "kind": "invalid_arguments",
        "message": "x: Input should be an integer",
        "retryable": True,
        "errors": [
            {
                "loc": ["x"],
                "type": "int_parsing",
                "msg": "Input should be an integer",
                "expected": "integer",
            }
        ],
        "nearest": [],
        "retry_after_ms": None,
    }


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int, "integer"),
        (Annotated[int, Field(ge=1, le=5)], "integer, at least 1, at most 5"),
        (Color, 'one of "red", "blue"'),
        (Inner, "object {a, b?}"),
        (list[datetime.date], "array of a date as YYYY-MM-DD, such as 2026-03-14"),
        (int | str, "integer or string"),
        (Any, "any value"),
        (Pet, 'object {kind: "cat", lives?} or object {kind: "dog", tricks}'),
    ],
)
async def test_a_missing_argument_is_described(annotation: Any, expected: str) -> None:
    """So that the model knows what to send."""
    message = await run(_taking(annotation), {})

    assert message.content == f"x: Field required ({expected})"


async def test_a_missing_member_of_an_object_is_described() -> None:
    """The description is found below the parameter."""
    message = await run(_taking(list[Inner]), {"x": [{}]})

    assert message.content == "x[0].a: Field required (integer)"


async def test_a_missing_item_of_a_tuple_is_described() -> None:
    """By its place."""
    message = await run(_taking(tuple[int, str]), {"x": [1]})

    assert message.content == "x[1]: Field required (string)"


@tool
async def lenient(a: int = 1) -> int:
    """Take a."""
    return a


@tool(unknown_args="forbid")
async def closed(b: int = 1, a: int = 1) -> int:
    """Take a and b."""
    return a + b


async def test_an_argument_that_no_parameter_takes_is_reported() -> None:
    """The call goes on without it."""
    message = await run(lenient, {"a": 2, "zz": CANARY})

    assert message.content == "2"
    assert message.response_metadata["ignored_args"] == ["zz"]


async def test_an_argument_that_no_parameter_takes_can_be_refused() -> None:
    """Then the model is told the names there are, and the schema says so too."""
    message = await run(closed, {"zz": CANARY})

    assert message.content == "zz: There is no such argument; the arguments are: a, b"
    assert closed.compiled.args_schema.json_schema["additionalProperties"] is False
    assert CANARY not in message.model_dump_json()


async def test_an_unknown_member_of_a_closed_object_is_answered_with_that_objects_members() -> None:
    """The names of the tool's parameters would mislead."""
    message = await run(_taking(Inner), {"x": {"a": 1, "zz": 1}})

    assert message.content == "x.zz: There is no such argument; the arguments are: a, b"


async def test_a_strict_field_takes_what_json_can_say() -> None:
    """A date can only be text in JSON, but an integer must be one."""

    @tool
    async def plan(day: Annotated[datetime.date, Field(strict=True)], n: Annotated[int, Field(strict=True)]) -> str:
        """Plan."""
        return f"{day!r} {n}"

    assert (await run(plan, {"day": "2030-01-02", "n": 1})).content == "datetime.date(2030, 1, 2) 1"
    assert (await run(plan, {"day": "2030-01-02", "n": "1"})).content == "n: Input should be an integer"


class Unserializable:
    """What JSON has no form for."""


class StrictArguments(BaseModel):
    """Strict arguments, one of them injected."""

    model_config = ConfigDict(strict=True)

    n: int
    db: Annotated[Any, InjectedToolArg] = None


async def test_a_strict_args_schema_may_have_injected_objects() -> None:
    """Only what the model sent has to be JSON."""

    @tool(args_schema=StrictArguments)
    async def query(n: int, db: Annotated[Any, InjectedToolArg] = None) -> str:
        """Query."""
        return type(db).__name__

    assert (await run(query, {"n": 1}, context={"db": Unserializable()})).content == "Unserializable"


class Aliased(BaseModel):
    """Arguments under several names."""

    model_config = ConfigDict(populate_by_name=True)

    a: int = Field(0, alias="first")
    b: int = Field(0, validation_alias=AliasChoices("second", "zweites"))
    c: int = Field(0, validation_alias=AliasPath("deep", "third"))


@pytest.mark.parametrize(
    ("sent", "content", "ignored"),
    [
        ({"first": 1, "second": 2}, "1 2 0", []),
        ({"a": 1, "b": 2}, "1 2 0", []),
        ({"zweites": 2}, "0 2 0", []),
    ],
)
async def test_what_is_used_is_not_reported_as_ignored(sent: dict[str, Any], content: str, ignored: list[str]) -> None:
    """Every name that a field goes by is known."""

    @tool(args_schema=Aliased)
    async def take(a: int, b: int, c: int) -> str:
        """Take."""
        return f"{a} {b} {c}"

    message = await run(take, sent)

    assert message.content == content
    assert message.response_metadata["ignored_args"] == ignored


def test_the_schema_is_plain_json() -> None:
    """Defaults that JSON cannot say are left out without a warning."""

    @tool
    def take(when: Annotated[Any, "Unserializable by default."] = Unserializable()) -> None:  # noqa: B008
        """Take."""

    assert json.loads(json.dumps(take.compiled.args_schema.flat)) == {
        "type": "object",
        "properties": {"when": {"description": "Unserializable by default."}},
    }
