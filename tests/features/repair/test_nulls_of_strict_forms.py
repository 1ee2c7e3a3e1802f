"""Null for what may be left out is not given, as strict forms of definitions make models write it."""

import json
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from sidecall import tool
from tests.features.provider_formats.test_listed_choices import CHOICES, make_opening
from tests.kernel.schema.forms.test_strict import Cat, Dog
from tests.kit.calls import run, write_call
from tests.kit.clients import MakeClient
from tests.kit.tools import add


class Inner(BaseModel):
    """An object with an optional member."""

    a: int
    b: int = 2


Pet = Annotated[Cat | Dog, Field(discriminator="kind")]


@tool
async def strict_tool(
    required: int,
    number: int = 1,
    either: int | str = 2,
    inner: Inner | None = None,
    many: list[Inner] = [],  # noqa: B006  copied for each call
    pet: Pet = Cat(kind="cat"),  # noqa: B008
    renamed: str = Field("x", alias="from"),
) -> str:
    """Take much."""
    return f"{required} {number} {either} {inner} {many} {pet} {renamed}"


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param({"number": None}, "1 1 2 None [] kind='cat' lives=9 x", id="plain"),
        pytest.param({"from": None}, "1 1 2 None [] kind='cat' lives=9 x", id="alias"),
        pytest.param({"either": None}, "1 1 2 None [] kind='cat' lives=9 x", id="union"),
        pytest.param({"inner": None}, "1 1 2 None [] kind='cat' lives=9 x", id="null is a value here"),
        pytest.param(
            {"many": [{"a": 1, "b": None}, {"a": 2, "b": 3}]},
            "1 1 2 None [Inner(a=1, b=2), Inner(a=2, b=3)] kind='cat' lives=9 x",
            id="in a list",
        ),
        pytest.param({"inner": {"a": 1, "b": None}}, "1 1 2 a=1 b=2 [] kind='cat' lives=9 x", id="in an object"),
        pytest.param({"pet": {"kind": "cat", "lives": None}}, "1 1 2 None [] kind='cat' lives=9 x", id="in a union"),
    ],
)
async def test_null_for_an_optional_parameter_means_not_given(sent: dict[str, Any], expected: str) -> None:
    """Strict schemas make models send null for what they would leave out."""
    message = await run(strict_tool, {"required": 1, **sent})

    assert message.content == expected


@pytest.mark.parametrize(
    ("sent", "expected"),
    [
        pytest.param({"required": None}, "required: Input should be an integer", id="required"),
        pytest.param({"required": 1, "many": [{"a": None}]}, "many[0].a: Input should be an integer", id="below"),
        pytest.param(
            {"required": "x", "number": None},
            "required: Input should be an integer",
            id="another mistake beside",
        ),
    ],
)
async def test_null_for_a_required_parameter_is_refused(sent: dict[str, Any], expected: str) -> None:
    """And a forgiven null is not among the mistakes."""
    message = await run(strict_tool, sent)

    assert message.content == expected


async def test_null_beside_a_default_is_not_given() -> None:
    """The function has its default."""
    assert (await run(add, {"a": 1, "b": None})).content == "2"


async def test_null_within_a_choice_by_reference_is_not_given(make_client: MakeClient) -> None:
    """The member of the choice has its default."""
    client = await make_client(make_opening(CHOICES["reference"]))

    message = (await client.post("/tool_calls", json=write_call("open", kind="cat", lives=None))).json()

    assert json.loads(message["content"]) == {"kind": "cat", "lives": 9}
