"""What the properties found in results, each in its smallest form."""

import datetime
from collections.abc import Iterable
from typing import Any

import pytest
from pydantic import BaseModel, computed_field

from sidecall import BaseTool, tool
from tests.kit.calls import run


def _giving(returned: Any) -> BaseTool:
    @tool
    async def give() -> Any:
        """Return it."""
        return returned

    return give


class Person(BaseModel):
    """Have a property that crashes."""

    @computed_field
    @property
    def age(self) -> int:
        """Fail."""
        raise AttributeError("birthday")


class Unprintable:
    """Crash when asked for its text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


def _one_and_crash() -> Iterable[int]:
    yield 1
    raise RuntimeError("no second")


@pytest.mark.parametrize(
    "returned",
    [
        pytest.param(Person(), id="computed field"),
        pytest.param(Unprintable(), id="text"),
        pytest.param({"parts": _one_and_crash()}, id="generator"),
    ],
)
async def test_a_result_that_crashes_on_its_way_to_json_is_answered(returned: Any) -> None:
    """It fails this call, with a message."""
    assert (await run(_giving(returned))).status == "error"


class Image(BaseModel):
    """Hold bytes."""

    content: bytes


@pytest.mark.parametrize(
    ("returned", "content"),
    [
        pytest.param(Image(content=b"\x80"), '{"content": "gA=="}', id="bytes of a model that are no text"),
        pytest.param([{"type": ["text"]}], '[{"type": ["text"]}]', id="block whose type is no text"),
        pytest.param({None: datetime.date(2020, 1, 2)}, '{"null": "2020-01-02"}', id="null as a key"),
        pytest.param({"\ud800": datetime.date(2020, 1, 2)}, '{"?": "2020-01-02"}', id="key with a lone surrogate"),
    ],
)
async def test_a_result_is_said_in_json(returned: Any, content: str) -> None:
    """Never as Python has it, nor not at all."""
    message = await run(_giving(returned))

    assert (message.status, message.content) == ("success", content)
