"""Arguments whose names Anthropic refuses are listed under others there, and taken back."""

import json
from typing import Any

import pytest

from sidecall import tool
from sidecall.kernel.schema.forms.definitions import render_definitions
from tests.kit.calls import run

NUMBER = {"type": "integer"}


def take(**given: Any) -> Any:
    """Take."""
    return given


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    ("names", "listed"),
    [
        (["filter[name]", "page"], ["filter_name", "page"]),
        (["$top", "a b", "X-Key:id"], ["top", "a_b", "X-Key_id"]),
        (["a.b", "a-b-c"], ["a.b", "a-b-c"]),
        (["a b", "a:b", "c d"], ["a b", "a:b", "c_d"]),  # Two of which one name could mean both.
        (["größe", "$", "x" * 65], ["größe", "$", "x" * 65]),  # Of which no other name is read back.
    ],
)
async def test_names_that_are_refused_are_listed_otherwise(names: list[str], listed: list[str], strict: bool) -> None:
    """What is sent under them arrives under the names of the tool; other providers are told those."""
    made = tool(take, args_schema={"properties": dict.fromkeys(names, NUMBER), "required": names})

    (anthropic,) = render_definitions([made.compiled], "anthropic", strict=strict)
    (openai,) = render_definitions([made.compiled], "openai", strict=strict)
    answer = await run(made, {name: number for number, name in enumerate(listed)})

    assert list(anthropic["input_schema"]["properties"]) == listed
    assert anthropic["input_schema"]["required"] == listed
    assert list(openai["function"]["parameters"]["properties"]) == names
    assert json.loads(str(answer.content)) == {name: number for number, name in enumerate(names)}


def test_names_of_what_takes_any_name_stay() -> None:
    """Under another name it would be an argument of its own."""
    made = tool(take, args_schema={"properties": {"a b": NUMBER}, "additionalProperties": True})

    (anthropic,) = render_definitions([made.compiled], "anthropic")

    assert list(anthropic["input_schema"]["properties"]) == ["a b"]
