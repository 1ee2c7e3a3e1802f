"""Parameters of plain types are said without pydantic's generator, in the same words as with it."""

import json
import math
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from sidecall import StructuredTool
from sidecall.compiler.model_schema import render_schema
from sidecall.kernel.schema.model_args_schema import ModelArgsSchema


def none() -> str:
    """Take nothing."""


def plain(query: str, limit: int = 3, weight: float = 0.5, exact: bool = False) -> str:
    """Take one of each type.

    Args:
        query: What for, in
            two lines.

            And a paragraph with "quotes" and ünïcode.
        limit: How many.
    """


def only(first: str, /, *, second: int, model_config: str = "x", _private: bool = True) -> str:
    """Take them by place and by name, and under names that models have themselves."""


def hollow(text: str = "", number: int = 0, large: int = 10**30, small: float = -0.0) -> str:
    """Take nothing much.

    Args:
        text:
        number: One.
    """


def infinite(most: float = math.inf, least: float = math.nan) -> str:
    """Take a default that JSON does not have."""


def unfit(number: float = 3, flag: int = True) -> str:
    """Take defaults of types that only do."""


def optional(text: str | None = None, other: str = None, many: list[str] = []) -> str:  # type: ignore[assignment]  # noqa: B006, RUF013
    """Take what has more than a type."""


def said(text: Annotated[str, Field(max_length=3)], kind: Literal["a", "b"] = "a", any_one: Any = 1, bare=1) -> str:  # type: ignore[no-untyped-def]
    """Take what is bounded."""


def default(text: str = Field("x", description="A text."), number: int = Field(ge=3)) -> str:
    """Take fields."""


def some(*numbers: int) -> str:
    """Take any number of them."""


def rest(text: str, **more: int) -> str:
    """Take anything else, too."""


@pytest.mark.parametrize("unknown_args", [None, "forbid", "tell"])
@pytest.mark.parametrize(
    "function",
    [none, plain, only, hollow, infinite, unfit, optional, said, default, some, rest],
    ids=lambda it: it.__name__,
)
def test_pydantic_says_the_same(function: Callable[..., Any], unknown_args: Any) -> None:
    """Member by member in the same order, since hashes are made of it."""
    schema = StructuredTool.from_function(function, unknown_args=unknown_args).compiled.args_schema

    assert isinstance(schema, ModelArgsSchema)
    assert json.dumps(schema.json_schema) == json.dumps(render_schema(schema.model, frozenset()))
