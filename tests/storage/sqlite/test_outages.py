"""A file that fails again each time that it is used again is tried less and less often."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise

import pytest

from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.sqlite.writer import Writer
from sidecall.storage.sqlite.writer_connection import Ended, Hear, Order, Outcomes, Unavailable, Usable
from tests.kit.waiting import until

pytestmark = pytest.mark.virtual_time


class LyingBackend:
    """Says of a full file that it can be used, until something is written."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        """Begin with a full file."""
        self._loop = loop
        self.is_full = True
        self.tried: list[float] = []  # When it was.

    def open(self) -> Usable:
        """Open nothing."""
        return Usable(None)

    async def start(self, hear: Hear) -> None:
        """Know who hears."""
        self._hear = hear

    def send(self, group: Sequence[Order], *, is_large: bool) -> None:  # noqa: ARG002
        """Refuse it, unless there is room."""
        self._say(Unavailable("a file: it is full.") if self.is_full else [None] * len(group))

    def try_again(self, is_damaged: bool) -> None:  # noqa: ARG002
        """Find nothing."""
        self.tried.append(self._loop.time())
        self._say(Usable(None))

    def finish(self) -> None:
        """End at once."""
        self._hear(Ended())

    def give_up(self) -> None:
        """Have ended already."""

    def forget(self) -> None:
        """Have ended already."""

    def _say(self, outcomes: Outcomes) -> None:
        self._loop.call_soon(lambda: self._hear(outcomes))


class Flapping:
    """A writer of a full file, and somebody who writes twenty times a second."""

    def __init__(self) -> None:
        """Begin in use."""
        self._loop = asyncio.get_running_loop()
        self.backend = LyingBackend(self._loop)
        self.writer = Writer(self.backend, "a file", 1_000_000)

    async def write_for(self, seconds: float) -> None:
        """Write for so long."""
        ends = self._loop.time() + seconds
        while self._loop.time() < ends:
            with suppress(StoreUnavailable):
                await self.writer.ask("write", ("key",), "key")
            await asyncio.sleep(0.05)

    def find_pauses(self) -> list[float]:
        """Return the seconds before each time that it was tried, since it began or was tried before."""
        return [late - soon for soon, late in pairwise([0.0, *self.backend.tried])]


def fit(pauses: Sequence[float], longest: Sequence[float]) -> bool:
    """Return whether each is about as long as it may be at most, or half as long at least."""
    return all(most / 2 <= one <= most + 0.3 for one, most in zip(pauses, longest, strict=True))


async def test_a_file_that_only_seems_to_be_usable_is_tried_less_and_less_often(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Twice a minute at least; the log has two lines for each time."""
    flapping = Flapping()
    await flapping.writer.start()
    with caplog.at_level(logging.WARNING, "sidecall"):
        await flapping.write_for(120)
    await flapping.writer.close()
    pauses = flapping.find_pauses()

    assert fit(pauses, [0.5, 1, 2, 4, 8, 16, *[30] * (len(pauses) - 6)]), pauses
    assert len(caplog.records) == 2 * len(pauses) + 1


async def test_one_that_was_of_use_for_long_is_tried_soon() -> None:
    """What comes then is another outage."""
    flapping = Flapping()
    await flapping.writer.start()
    await flapping.write_for(30)
    flapping.backend.is_full = False
    await flapping.write_for(60)
    flapping.backend.tried = []
    flapping.backend.is_full = True
    began = asyncio.get_running_loop().time()
    await flapping.write_for(1)
    await flapping.writer.close()

    assert fit([flapping.backend.tried[0] - began], [0.5])


async def test_one_that_is_written_a_little_each_time_is_tried_less_and_less_often_too() -> None:
    """It has to be of use for as long as it was not."""
    flapping = Flapping()
    await flapping.writer.start()
    for _ in range(5):
        flapping.backend.is_full = True
        await flapping.write_for(0.1)
        flapping.backend.is_full = False
        await until(lambda: flapping.writer.trouble is None)
        await flapping.write_for(0.1)
    await flapping.writer.close()
    pauses = flapping.find_pauses()

    assert fit(pauses, [0.5, 1, 2, 4, 8]), pauses
