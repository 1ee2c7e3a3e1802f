"""What is to be written waits for more, and for no longer than that pays."""

import asyncio

import pytest

from sidecall.ledger.sql.gathering import Gathering


class Waiting:
    """Those that wait, and how many they were each time that they went."""

    def __init__(self) -> None:
        """Begin with nobody."""
        self.count = 0
        self.went: list[int] = []
        self.gathering = Gathering(lambda: self.count, self.go, enough=3)

    def go(self) -> None:
        """Let all go."""
        self.went.append(self.count)
        self.count = 0

    def come(self, number: int, under_way: int = 0) -> None:
        """Let so many come, while so many are being written."""
        for _ in range(number):
            self.count += 1
            self.gathering.begin(under_way)


@pytest.mark.parametrize(
    ("number", "under_way", "at_once", "soon"),
    [
        (1, 0, [], [1]),
        (2, 0, [], [2]),
        (3, 0, [3], [3]),
        (4, 0, [3], [3, 1]),
        (7, 0, [3, 3], [3, 3, 1]),
        (3, 3, [3], [3]),
        (4, 5, [], [4]),
        (6, 5, [5], [5, 1]),
    ],
)
async def test_enough_go_at_once(number: int, under_way: int, at_once: list[int], soon: list[int]) -> None:
    """Enough are as many as are being written; fewer go in the next turn that brings no more, and nobody goes twice."""
    waiting = Waiting()
    waiting.come(number, under_way)
    went = list(waiting.went)
    for _ in range(5):
        await asyncio.sleep(0)

    assert (went, waiting.went) == (at_once, soon)


async def test_whoever_comes_in_the_next_turn_goes_too() -> None:
    """And a turn without anybody ends it."""
    waiting = Waiting()
    for _ in range(2):
        waiting.come(1)
        await asyncio.sleep(0)
    before = list(waiting.went)
    for _ in range(3):
        await asyncio.sleep(0)

    assert (before, waiting.went) == ([], [2])
