"""What JSON has no form for is named with its place, and with what to return in its place."""

from dataclasses import dataclass
from typing import Any

import pytest

from sidecall import tool
from tests.kit.calls import run


class Frame:
    """Looks like a table."""

    columns = ()

    def to_markdown(self) -> str:
        """Do what a table does."""
        return ""


class Series:
    """Looks like a column of one."""


class Image:
    """Looks like an image."""


Frame.__module__ = Series.__module__ = "pandas.core"
Image.__module__ = "PIL.PngImagePlugin"


@dataclass
class Report:
    """Holds anything."""

    rows: Any


CIRCLE: list[Any] = []
CIRCLE.append(CIRCLE)
TABLE = ' Return its to_dict("records") or to_markdown() instead.'
IMAGE = " Return a ToolOutputImage with a data: URL of it instead, or keep its bytes with context.save_content."


@pytest.mark.parametrize(
    ("value", "found", "advice"),
    [
        (Frame(), "type Frame", TABLE),
        ({"data": [1, 2, {"t": Frame()}]}, "type Frame at `data[2].t`", TABLE),
        (Report([Series()]), "type Series at `rows[0]`", " Return its to_list() instead."),
        ({"plot": Image()}, "type Image at `plot`", IMAGE),
        ([CIRCLE], "type list", ""),
        ([*range(2000), object()], "type list", ""),  # Too long to look for it.
    ],
)
async def test_the_member_that_cannot_be_said_is_named(value: Any, found: str, advice: str) -> None:
    """And what its author can return instead."""

    @tool
    def give() -> Any:
        """Give."""
        return value

    message = await run(give, {})

    assert message.content == f"Error: give returned a value of {found}, which cannot be said in JSON.{advice}"


@pytest.mark.parametrize(
    ("pair", "found"),
    [
        ((Frame(), None), "type Frame as the content"),
        (("a table", Frame()), "type Frame as the artifact"),
        (("a table", {"df": Frame()}), "type Frame at `df` of the artifact"),
    ],
)
async def test_which_of_content_and_artifact_it_is_is_said(pair: Any, found: str) -> None:
    """Where a tool returns both."""

    @tool(response_format="content_and_artifact")
    def give() -> Any:
        """Give."""
        return pair

    message = await run(give, {})

    assert message.content == f"Error: give returned a value of {found}, which cannot be said in JSON.{TABLE}"
