"""Places for what takes long: callers take turns, none has more than half, and waiting is bounded."""

import asyncio
from collections.abc import Iterator

import pytest

from sidecall.kernel.concurrency.fair_queue import Shares
from sidecall.kernel.core.overload import StoreUnavailable

pytestmark = pytest.mark.virtual_time
A, B = ("a", ""), ("b", "")


class Searches:
    """What has begun, each until it is ended."""

    def __init__(self, shares: Shares) -> None:
        self.shares = shares
        self.begun: list[str] = []
        self._ends: dict[str, asyncio.Event] = {}

    async def run(self, name: str) -> None:
        """Have a place until it is ended."""
        self._ends[name] = asyncio.Event()
        async with self.shares.take((name[0], "")):
            self.begun.append(name)
            await self._ends[name].wait()

    def start(self, *names: str) -> Iterator[asyncio.Task[None]]:
        """Begin some."""
        return (asyncio.create_task(self.run(name)) for name in names)

    async def end(self, name: str) -> None:
        """End one that has begun."""
        self._ends[name].set()
        await asyncio.sleep(0.01)


async def test_another_caller_finds_a_place() -> None:
    """However many wait before it."""
    searches = Searches(Shares(4))
    tasks = [*searches.start("a1", "a2", "a3", "a4", "a5")]
    await asyncio.sleep(0.01)
    assert searches.begun == ["a1", "a2"]

    tasks += searches.start("b1", "b2", "c1")
    await asyncio.sleep(0.01)
    assert searches.begun == ["a1", "a2", "b1", "b2"]

    await searches.end("a1")
    assert searches.begun[4:] == ["a3"]
    await searches.end("b1")
    assert searches.begun[5:] == ["c1"]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def test_what_takes_too_long_is_sent_away() -> None:
    """With what waits for it, and holds no place afterwards."""
    searches = Searches(Shares(2, patience=3.0))
    refused = await asyncio.gather(*searches.start("a1", "a2", "a3"), return_exceptions=True)
    assert [type(it) for it in refused] == [StoreUnavailable] * 3
    assert searches.begun == ["a1"]

    last = asyncio.create_task(searches.run("a4"))
    await asyncio.sleep(0.01)
    assert searches.begun == ["a1", "a4"]
    await searches.end("a4")
    await last


async def test_no_more_than_some_of_one_caller_wait() -> None:
    """Others still do."""
    searches = Searches(Shares(1, most_waiting=2))
    tasks = [*searches.start("a1", "a2", "a3")]
    await asyncio.sleep(0.01)
    with pytest.raises(StoreUnavailable):
        await searches.run("a4")

    tasks += searches.start("b1")
    await asyncio.sleep(0.01)
    await searches.end("a1")
    assert searches.begun == ["a1", "a2"]
    await searches.end("a2")
    assert searches.begun == ["a1", "a2", "b1"]
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


@pytest.mark.parametrize("is_due", [True, False])
async def test_who_leaves_gives_the_place_back(is_due: bool) -> None:
    """Also at the very moment when it comes."""
    searches = Searches(Shares(1))
    first, second, third = searches.start("a1", "a2", "b1")
    await asyncio.sleep(0.01)
    if is_due:
        searches._ends["a1"].set()
        await asyncio.sleep(0)
    second.cancel()
    await searches.end("a1")
    await asyncio.gather(first, second, return_exceptions=True)
    assert searches.begun in (["a1", "b1"], ["a1", "a2", "b1"])
    await searches.end("b1")
    await third
    async with asyncio.timeout(1), searches.shares.take(A):
        pass
    async with asyncio.timeout(1), searches.shares.take(B):
        pass
