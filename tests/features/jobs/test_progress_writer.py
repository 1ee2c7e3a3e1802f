"""What tools say is written down some of it at a time, and again where that could not be done."""

import asyncio
from dataclasses import dataclass, field

import pytest

from sidecall.features.jobs.progress import ProgressBatch, Said
from sidecall.features.jobs.progress_writer import ProgressWriter
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.storage.notifications import NotificationKind
from tests.kit.waiting import until


@dataclass
class Store:
    """A log and the way to other servers, which fail as long as they are told to."""

    is_away: bool = False
    numbers: dict[str, list[int]] = field(default_factory=dict)
    bodies: dict[str, list[bytes]] = field(default_factory=dict)
    told: list[str] = field(default_factory=list)
    tries: int = 0
    at_once: int = 0
    most_at_once: int = 0

    async def add(self, call_id: str, part: ProgressBatch, _forgotten: int) -> None:
        """Keep it."""
        self.tries += 1
        self.at_once += sum(len(body) for _, body in part.said)
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once = 0
        if self.is_away:
            raise StoreUnavailable
        first = part.last - len(part.said) + 1
        self.numbers.setdefault(call_id, []).extend(range(first, part.last + 1))
        self.bodies.setdefault(call_id, []).extend(body for _, body in part.said)

    async def list_after(self, call_id: str, attempt: int, number: int) -> list[ProgressBatch]:
        """List nothing."""
        raise NotImplementedError

    async def forget(self) -> None:
        """Forget nothing."""

    def attach(self, listener: object) -> None:
        """Give nothing."""

    def tell(self, kind: NotificationKind, call_id: str = "") -> None:
        """Note it."""
        self.told.append(f"{kind} {call_id}")

    async def open(self) -> None:
        """Begin nothing."""

    async def close(self) -> None:
        """End nothing."""


def say(first: int, last: int, size: int = 0) -> list[Said]:
    """Make things that a tool says."""
    return [("progress", b"%d" % number + b"x" * size) for number in range(first, last + 1)]


async def test_what_could_not_be_written_is_written_once_the_store_is_back() -> None:
    """In its order, with what was said meanwhile, and then told."""
    store = Store(is_away=True)
    writer = ProgressWriter(store, store)
    writer.add("a", 1, say(1, 3))
    await until(lambda: store.tries >= 1)
    writer.add("a", 1, say(4, 6))
    await until(lambda: store.tries >= 2)
    untold = list(store.told)

    store.is_away = False
    await until(lambda: bool(store.told))

    assert (untold, store.told) == ([], ["progress a"])
    assert (store.numbers["a"], store.bodies["a"]) == ([1, 2, 3, 4, 5, 6], [b"1", b"2", b"3", b"4", b"5", b"6"])


async def test_a_call_that_ends_meanwhile_waits_for_nothing() -> None:
    """It tries once; what it has said goes with it."""
    store = Store(is_away=True)
    writer = ProgressWriter(store, store)
    writer.add("a", 1, say(1, 3))
    await writer.settle("a")
    writer.leave("a")
    store.is_away = False
    writer.add("b", 1, say(1, 1))
    await until(lambda: bool(store.told))

    assert (store.told, store.numbers) == (["progress b"], {"b": [1]})


@pytest.mark.parametrize(
    ("count", "size", "kept"),
    [(1500, 0, list(range(477, 1501))), (10, 65_536, [8, 9, 10]), (1024, 0, list(range(1, 1025)))],
)
async def test_what_is_lost_meanwhile_is_the_oldest_and_keeps_its_number(
    count: int, size: int, kept: list[int]
) -> None:
    """So that who reads takes nothing for what it has read."""
    store = Store(is_away=True)
    writer = ProgressWriter(store, store)
    for number in range(1, count + 1):
        writer.add("a", 1, say(number, number, size))
        if number % 7 == 0:
            await writer.settle("a")
    store.is_away = False
    await writer.settle("a")
    writer.add("a", 1, say(count + 1, count + 1))
    await writer.settle("a")

    assert store.numbers["a"] == [*kept, count + 1]
    assert [int(body.rstrip(b"x")) for body in store.bodies["a"]] == [*kept, count + 1]


async def test_of_many_calls_that_say_much_some_are_written_at_once() -> None:
    """Others have room to write, too."""
    store = Store()
    writer = ProgressWriter(store, store)
    for number in range(100):
        writer.add(f"{number}", 1, say(1, 3, 65_536))
    await until(lambda: len(store.told) == 100)

    assert store.most_at_once <= 4 * 1024 * 1024 + 3 * 65_600
