"""Defaults that are others at each start are told from those that stay."""

import time
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from uuid import NAMESPACE_DNS, UUID, uuid1, uuid4, uuid5

import pytest
from pydantic import BaseModel, Field

from sidecall import tool
from sidecall.compiler.author_mistakes import find_changing_defaults


class Stamped(BaseModel):
    """Something with an id."""

    id: UUID = Field(default_factory=uuid4)


def _make_schema(annotation: Any, default: Any) -> dict[str, Any]:
    def take(it: Any = default) -> None:
        """Take."""
        del it

    take.__annotations__["it"] = annotation
    return tool(take).compiled.args_schema.flat


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (datetime, datetime.now),
        (datetime | None, lambda: datetime.now(UTC)),
        (datetime, lambda: datetime.now(UTC).replace(tzinfo=None)),
        (str, lambda: datetime.now(UTC).isoformat()),
        (date, lambda: datetime.now(UTC).date()),
        (float, time.time),
        (UUID, uuid4),
        (str, lambda: str(uuid1())),
    ],
)
def test_a_default_that_is_another_at_each_start_is_named(annotation: Any, default: Callable[[], Any]) -> None:
    """By what it looks like: of the clock, as late as it is now, or random."""
    [text] = find_changing_defaults(_make_schema(annotation, default()))

    assert text.startswith("`it` has the default ")


@pytest.mark.parametrize(
    ("annotation", "default"),
    [
        (datetime, datetime.now(UTC) - timedelta(minutes=10)),
        (date, datetime.now(UTC).date() - timedelta(days=3)),
        (float, 1.5),
        (UUID, uuid5(NAMESPACE_DNS, "e.org")),
        (str, "a text of ten"),
        (str, "ten chars."),
        (str, "x--x-x-x".ljust(36, "x")),
        (int | None, None),
        (Stamped | None, None),
    ],
)
def test_other_defaults_are_left_alone(annotation: Any, default: Any) -> None:
    """What a factory makes is in no schema."""
    assert list(find_changing_defaults(_make_schema(annotation, default))) == []
