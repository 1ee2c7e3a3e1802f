"""Everything that a tool returns becomes JSON, never a repr."""

import dataclasses
import datetime
import decimal
import enum
import json
import math
import pathlib
import uuid
from typing import Any

import pytest
from pydantic import BaseModel, Field, SecretStr

from sidecall import ToolMessage, tool
from tests.kit.calls import run
from tests.kit.tools import make_give


class Reading(BaseModel):
    """A reading."""

    value: float = Field(serialization_alias="theValue")
    day: datetime.date = datetime.date(2030, 1, 2)


@dataclasses.dataclass
class Point:
    """A point."""

    x: int
    when: datetime.datetime


class Unit(enum.StrEnum):
    """A unit."""

    METER = "m"


class Grade(enum.IntEnum):
    """A grade."""

    GOOD = 1


class Text(str):
    """Text of the author's own."""

    __slots__ = ()

    def __str__(self) -> str:
        return "something else"


def _circle() -> list[Any]:
    circle: list[Any] = []
    circle.append(circle)
    return circle


def _nested(depth: int) -> list[Any]:
    nested: list[Any] = [1]
    for _ in range(depth):
        nested = [nested]
    return nested


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("text", "text"),
        ("", ""),
        (Text("text"), "text"),
        (Unit.METER, "m"),
        (None, "null"),
        (True, "true"),
        (10**30, "1000000000000000000000000000000"),
        (1.5, "1.5"),
        (Grade.GOOD, "1"),
        # as LangChain writes JSON
        ({"city": "Zürich", "b": [1, None, True]}, '{"city": "Zürich", "b": [1, null, true]}'),
        ([1, 2], "[1, 2]"),
        ((1, 2), "[1, 2]"),
        ([{"type": "unknown block"}], '[{"type": "unknown block"}]'),
        # JSON has neither
        (math.nan, "null"),
        ({"a": math.nan, "b": [math.inf, -math.inf]}, '{"a": null, "b": [null, null]}'),
        # what JSON lacks, by pydantic
        ({1}, "[1]"),
        (frozenset("a"), '["a"]'),
        (b"abc", "YWJj"),
        ({"raw": [b"abc"]}, '{"raw": ["YWJj"]}'),
        (decimal.Decimal("1.10"), "1.10"),
        (datetime.datetime(2030, 1, 2, 3, 4, tzinfo=datetime.UTC), "2030-01-02T03:04:00Z"),
        ([datetime.timedelta(seconds=1)], '["PT1S"]'),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (pathlib.Path("/a/b"), "/a/b"),
        (Reading(value=1), '{"theValue": 1.0, "day": "2030-01-02"}'),
        ([Reading(value=1)], '[{"theValue": 1.0, "day": "2030-01-02"}]'),
        (Point(1, datetime.datetime(2030, 1, 2)), '{"x": 1, "when": "2030-01-02T00:00:00"}'),
        ((number for number in (1, 2)), "[1, 2]"),
        ({1: "a", (1, 2): "b"}, '{"1": "a", "1,2": "b"}'),
        (SecretStr("canary-4711"), "**********"),
        # no UTF-8 form
        ("a\ud800b", "a?b"),
        ({"\ud800": "\udfff"}, '{"?": "?"}'),
    ],
)  # fmt: skip
async def test_content_is_text_as_it_is_or_json(value: Any, expected: str) -> None:
    """With LangChain's separators, and letters as letters."""
    message = await run(make_give(value))

    assert (message.content, message.status, message.artifact) == (expected, "success", None)


async def test_a_model_with_not_a_number_is_still_json() -> None:
    """NaN inside a model is null as it is anywhere else."""
    message = await run(make_give(Reading(value=math.nan)))

    assert message.content == '{"theValue": null, "day": "2030-01-02"}'


async def test_an_artifact_with_not_a_number_inside_a_model_is_still_json() -> None:
    """A client's JSON parser would refuse the whole answer."""
    message = await run(make_give(("ok", [Reading(value=math.inf)]), response_format="content_and_artifact"))

    assert message.artifact == [{"theValue": None, "day": "2030-01-02"}]


@pytest.mark.parametrize(
    ("value", "notes"),
    [
        (({"rows": [{"price": math.nan}]}, None), ["NaN at `rows[0].price` was sent as null"]),
        (([{"type": "text", "n": math.nan}], None), ["NaN at `[0].n` was sent as null"]),  # in a block
        (
            (math.inf, [Reading(value=-math.inf)]),
            [
                "Infinity as the content was sent as null",
                "-Infinity at `[0].theValue` of the artifact was sent as null",
            ],
        ),
        (
            (ToolMessage(content="ok", artifact={"n": math.nan}), None),
            ["NaN at `n` of the artifact was sent as null"],
        ),
    ],
)
async def test_a_number_that_became_null_is_noted(value: Any, notes: list[str]) -> None:
    """The program may have to know."""
    message = await run(make_give(value, response_format="content_and_artifact"))

    assert message.response_metadata["notes"] == notes


async def test_there_are_no_notes_where_there_is_nothing_to_note() -> None:
    """Not even an empty list; nor about what was not sent."""
    assert "notes" not in (await run(make_give({"n": 1.5}))).response_metadata
    assert (
        "notes"
        not in (await run(make_give((math.nan, object()), response_format="content_and_artifact"))).response_metadata
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (["a", {"type": "text", "text": "b"}], ["a", {"type": "text", "text": "b"}]),
        (({"type": "image", "data": b"abc"},), [{"type": "image", "data": "YWJj"}]),
        ([{"type": "text", "text": "\ud800"}], [{"type": "text", "text": "?"}]),
        ([{"type": "input_image", "image_url": "https://e.org/a.png"}],) * 2,
        ({"type": "text", "text": "alone"}, '{"type": "text", "text": "alone"}'),
        ([], "[]"),
        ((), "[]"),
        (iter(()), "[]"),
    ],
)
async def test_content_blocks_stay_blocks(value: Any, expected: Any) -> None:
    """Those that LangChain passes on and those of OpenAI, made sendable; one that stands in no list is an object."""
    assert (await run(make_give(value))).content == expected


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        pytest.param(object(), "object", id="object"),
        pytest.param({"a": object()}, "object at `a`", id="object inside"),
        pytest.param(_circle(), "list", id="circle"),
        pytest.param(_nested(100_000), "list", id="too deep"),
        pytest.param(int, "type", id="class"),
        pytest.param(10**6000, "int", id="more digits than Python writes"),
    ],
)
async def test_what_json_cannot_say_is_an_output_error(value: Any, kind: str) -> None:
    """Without the repr that it would have in Python."""
    message = await run(make_give(value))
    text = f"Error: give returned a value of type {kind}, which cannot be said in JSON."

    assert (message.content, message.status) == (text, "error")
    assert message.response_metadata["error"]["kind"] == "output_error"
    assert message.response_metadata["error"]["retryable"] is False


async def test_an_artifact_that_json_cannot_say_is_an_output_error() -> None:
    """The program would get nothing it can use."""
    message = await run(make_give(("content", object()), response_format="content_and_artifact"))

    assert message.status == "error"
    assert message.artifact is None


@pytest.mark.parametrize(
    ("value", "content", "artifact"),
    [
        (("c", {1}), "c", [1]),
        (("c", None), "c", None),
        (({"a": 1}, b"abc"), '{"a": 1}', "YWJj"),
    ],
)
async def test_a_pair_is_content_and_artifact(value: Any, content: str, artifact: Any) -> None:
    """The model reads the one, the program keeps the other."""
    message = await run(make_give(value, response_format="content_and_artifact"))

    assert (message.content, message.artifact) == (content, artifact)


@pytest.mark.parametrize(
    ("value", "kind"), [("c", "str"), (["c", 1], "list"), (("a", "b", "c"), "tuple"), (None, "NoneType")]
)
async def test_a_result_that_is_no_pair_is_an_output_error(value: Any, kind: str) -> None:
    """The option promises one."""
    message = await run(make_give(value, response_format="content_and_artifact"))

    assert message.content == (
        "Error: give has response_format='content_and_artifact' and must return a pair (content, artifact),"
        f" but returned {kind}."
    )
    assert message.response_metadata["error"]["kind"] == "output_error"


@pytest.mark.parametrize("response_format", ["content", "content_and_artifact"])
async def test_a_tool_message_of_the_tools_own_answers_this_call(response_format: Any) -> None:
    """No matter what ids it carries; what else it says is kept."""
    own = ToolMessage(
        content=[{"type": "text", "text": "q"}],
        artifact={1},
        tool_call_id="another",
        name="another",
        status="error",
        id="another",
        additional_kwargs={"raw": b"abc"},
        response_metadata={"duration_ms": "forged"},
    )
    value = {"content": own, "content_and_artifact": (own, "ignored")}[response_format]

    message = await run(make_give(value, response_format=response_format))

    assert (message.content, message.artifact) == ([{"type": "text", "text": "q"}], [1])
    assert (message.tool_call_id, message.name, message.status) == ("call_1", "give", "error")
    assert message.additional_kwargs == {"raw": "YWJj"}
    assert message.id != "another"
    assert message.response_metadata["duration_ms"] != "forged"


async def test_every_message_can_be_sent() -> None:
    """It is JSON in UTF-8, with the nine keys."""
    message = await run(
        make_give((Point(1, datetime.datetime(2030, 1, 2)), {"a": ["\ud800"]}), response_format="content_and_artifact")
    )

    assert json.loads(message.model_dump_json())["artifact"] == {"a": ["?"]}


async def test_the_metadata_says_how_long_it_took_and_whether_to_stop() -> None:
    """An agent ends its loop after a tool that answers directly."""

    @tool(return_direct=True)
    async def give() -> str:
        """Give."""
        return "x"

    message = await run(give)

    assert message.response_metadata["return_direct"] is True
    assert message.response_metadata["duration_ms"] >= 0
