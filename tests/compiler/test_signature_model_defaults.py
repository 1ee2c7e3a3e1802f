"""What stands in a signature beside types is read as the types are, or refused in plain words."""

from collections.abc import Generator
from datetime import date
from typing import TypedDict, Unpack

import pytest

from sidecall import tool
from sidecall.kernel.core.errors import SchemaInferenceError
from tests.kit.calls import run


async def test_defaults_become_the_annotated_types() -> None:
    """As arguments do, and listed so; an integer is a float to everybody."""

    @tool
    def take(
        n: int = "3",  # type: ignore[assignment]
        at: date = "2030-01-02",  # type: ignore[assignment]
        share: float = 1,
        boxes: set[int] = [1],  # type: ignore[assignment]  # noqa: B006  copied per call
        many: Generator[int, None, None] = ("1",),  # type: ignore[assignment]
    ) -> str:
        """Take."""
        return repr([n, at, share, boxes, [*many]])

    listed = take.compiled.args_schema.json_schema["properties"]

    assert (await run(take, {})).content == "[3, datetime.date(2030, 1, 2), 1, {1}, ['1']]"
    assert (listed["n"]["default"], listed["share"]["default"], listed["boxes"]["default"]) == (3, 1, [1])


class Options(TypedDict):
    """Keys."""

    a: int


def test_keys_that_are_unpacked_fail_the_start_in_plain_words() -> None:
    """What pydantic says of it helps nobody."""

    def take(**options: Unpack[Options]) -> None:
        """Take."""

    with pytest.raises(SchemaInferenceError) as caught:
        _ = tool(take).compiled

    assert caught.value.message.endswith(
        "parameter `options`: Unpack[...] is not read; write its keys as keyword-only parameters, or take one parameter"
        " of that TypedDict."
    )
