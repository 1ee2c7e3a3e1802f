"""Values are weighed with all that they hold."""

import sys
from dataclasses import dataclass
from typing import Any

import pytest

from sidecall.features.store.memory_store import weigh

LONG = "x" * 10_000


class Plain:
    """Hold a text like most objects do."""

    def __init__(self) -> None:
        self.text = "y" * 10_000


@dataclass(slots=True)
class Slotted:
    """Hold a text without a dictionary."""

    text: str


class Single:
    """Name its one slot as a text, and leave it empty."""

    __slots__ = "text"


@pytest.mark.parametrize(
    ("value", "least"),
    [
        (LONG, 10_000),
        (b"x" * 10_000, 10_000),
        ([LONG, LONG], 10_000),  # the same text, which is there once
        (["x" * 10_000, ["y" * 10_000]], 20_000),
        ({"x" * 10_000: {"a": ("y" * 10_000,)}}, 20_000),
        ({frozenset({LONG})}, 10_000),
        (Plain(), 10_000),
        (Slotted(LONG), 10_000),
        (Single(), 0),
        ([{} for _ in range(1000)], 64_000),
    ],
)
def test_all_that_a_value_holds_counts(value: Any, least: int) -> None:
    """Once, and little beside it."""
    assert least <= weigh(value) < least + 20_000


def test_what_holds_itself_is_weighed() -> None:
    """Like anything else."""
    circle: list[Any] = []
    circle.append(circle)

    assert weigh(circle) == sys.getsizeof(circle)
