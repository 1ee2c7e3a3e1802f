"""Values are told apart by all that a tool can see of them, and by nothing else."""

from collections import OrderedDict
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from pydantic import AnyUrl, BaseModel, SecretStr

from sidecall.features.cache.steps import write_exactly


class Color(Enum):
    """A color."""

    RED = "red"


class Order(BaseModel):
    """An order."""

    number: int
    key: SecretStr = SecretStr("")


@dataclass
class Point:
    """A place."""

    x: float


DIFFERENT: list[Any] = [
    None, False, True, 0, 1, 1.0, -0.0, 0.0, "", "1", b"1", "red", Color.RED, Decimal("1"), Decimal("1.0"),
    [], (), {}, set(), frozenset(), [1], (1,), {1}, frozenset({1}), ["a", "b"], ["ab"], [["a"], "b"], [["a", "b"]],
    {"a": 1}, {"a": "1"}, {"a": None}, OrderedDict(a=1), int, str, 10**5000, 10**5000 + 1, "\ud800",
    Order(number=1), Order(number=2), Order(number=1, key=SecretStr("x")), Order(number=1, key=SecretStr("y")),
    SecretStr("x"), SecretStr("y"), Point(1.0), Point(2.0), date(2026, 1, 1), datetime(2026, 1, 1, tzinfo=UTC),
    datetime(2026, 1, 1), UUID(int=1), UUID(int=2), Path("a"), Path("b"), AnyUrl("http://a/"), AnyUrl("http://b/"),
]  # fmt: skip


def test_what_differs_is_written_differently() -> None:
    """Also what is equal in Python, such as 1 and True, and what pydantic shows alike, such as two secrets."""
    assert len({write_exactly(value) for value in DIFFERENT}) == len(DIFFERENT)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": [2]}, {"b": [2], "a": 1}),
        ({"x", "y", "z", 1}, {1, "z", "y", "x"}),
        (Order(number=1, key=SecretStr("x")), Order(number=1, key=SecretStr("x"))),
        (Decimal("1.10"), Decimal("1.10")),
        (AnyUrl("http://a/"), AnyUrl("http://a/")),
        (datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, tzinfo=UTC)),
    ],
)
def test_what_is_the_same_is_written_the_same(one: Any, other: Any) -> None:
    """No matter in what order it was made."""
    assert write_exactly(one) == write_exactly(other)


def test_what_cannot_be_written_says_so() -> None:
    """As it could not be pickled."""
    with pytest.raises(TypeError):
        write_exactly([(number for number in [1])])
