"""What is to be written to a file waits for more, and for no longer than that pays."""

import asyncio
from collections.abc import Sequence

import pytest

from sidecall.storage.sqlite.writer import Writer
from sidecall.storage.sqlite.writer_connection import Ended, Hear, Order, Usable


class HeldBackend:
    """Writes nothing until it is let, and knows what it was sent."""

    def __init__(self) -> None:
        """Begin without anything."""
        self.sent: list[int] = []

    def open(self) -> Usable:
        """Open nothing."""
        return Usable(None)

    async def start(self, hear: Hear) -> None:
        """Know who hears."""
        self.hear = hear

    def send(self, group: Sequence[Order], *, is_large: bool) -> None:
        """Know how many came together, below 0 where some may be large."""
        self.sent.append(-len(group) if is_large else len(group))

    def let(self, count: int) -> None:
        """Write so many of those that were sent first."""
        self.hear([None] * count)

    def try_again(self, is_damaged: bool) -> None:
        """Have no trouble."""

    def finish(self) -> None:
        """Have ended at once."""
        self.hear(Ended())

    def give_up(self) -> None:
        """Have ended already."""

    def forget(self) -> None:
        """Have ended already."""


async def _settle() -> None:
    for _ in range(8):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("comings", "sent"),
    [
        ([1], [[1]]),
        ([15], [[15]]),
        ([16], [[16]]),
        ([20], [[16, 4]]),
        ([16, 16], [[16], [16, 16]]),
        # As many are waited for as are being written, but for a turn that brings no more.
        ([48], [[16, 16, 16]]),
        ([32, 40], [[16, 16], [16, 16, 32, 8]]),
    ],
)
async def test_as_many_as_are_being_written_go_at_once(comings: list[int], sent: list[list[int]]) -> None:
    """And sixteen at least; fewer go in the next turn that brings no more."""
    backend = HeldBackend()
    writer = Writer(backend, "a file", 1_000_000)
    await writer.start()
    waiting, seen = list[asyncio.Future[None]](), list[list[int]]()
    for count in comings:
        waiting += [writer.ask("write", ("key",), "key") for _ in range(count)]
        await _settle()
        seen.append(list(backend.sent))
    backend.let(len(waiting))
    await asyncio.gather(*waiting)
    await writer.close()

    assert seen == sent


async def test_large_values_are_told_of() -> None:
    """With the group that has them, and no other."""
    backend = HeldBackend()
    writer = Writer(backend, "a file", 10_000_000)
    await writer.start()
    waiting = []
    for value in ("short", "x" * 300_000, "short"):
        waiting.append(writer.ask("write", ("key", value), "key"))
        await _settle()
    backend.let(3)
    await asyncio.gather(*waiting)
    await writer.close()

    assert backend.sent == [1, -1, 1]
