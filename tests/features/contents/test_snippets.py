"""Snippets are made one at a time, and a client that leaves changes nothing of that."""

import asyncio
import gc
from collections.abc import Awaitable, Callable

import pytest

from sidecall.features.contents.snippets import SnippetReader, Wanted
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import UnknownContent
from sidecall.kernel.core.overload import Overloaded
from sidecall.kernel.core.sender import allow_seconds
from sidecall.kernel.ports.contents import TEXT, KeptContent
from tests.kit.waiting import until

FIRST_LINE = Wanted("1", None, ignore_case=False, path=None)
ANN, BOB = Caller("ann"), Caller("bob")


class Slow:
    """Contents that are fetched once a test lets them be, and whose they are."""

    def __init__(self) -> None:
        self.fetched: list[str] = []
        self.may_end = asyncio.Event()

    def of(self, caller: Caller) -> Callable[[], Awaitable[KeptContent]]:
        """Give what fetches a content of a caller."""

        async def fetch() -> KeptContent:
            self.fetched.append(caller.subject)
            await self.may_end.wait()
            return KeptContent("1", "default", caller.subject, TEXT, b"one\ntwo\n")

        return fetch


async def test_callers_take_turns() -> None:
    """Who asks for one part waits for the one that is being made, however many others have asked for."""
    snippets, slow = SnippetReader(), Slow()
    making = [asyncio.ensure_future(snippets.make(slow.of(who), FIRST_LINE, who)) for who in (ANN, ANN, ANN, BOB)]
    await until(lambda: slow.fetched == ["ann"])
    slow.may_end.set()
    await asyncio.gather(*making)

    assert slow.fetched == ["ann", "bob", "ann", "ann"]


async def test_of_one_caller_so_many_wait() -> None:
    """Others still may, until all are too many."""
    snippets, slow = SnippetReader(), Slow()
    callers = [Caller(f"caller {number}") for number in range(10)]
    making = [asyncio.ensure_future(snippets.make(slow.of(ANN), FIRST_LINE, ANN))]
    await until(lambda: slow.fetched == ["ann"])

    async def ask(caller: Caller) -> str:
        making.append(asyncio.ensure_future(snippets.make(slow.of(caller), FIRST_LINE, caller)))
        await asyncio.sleep(0)
        if not making[-1].done():
            return "waits"
        refusal = making.pop().exception()
        assert isinstance(refusal, Overloaded)
        return f"{refusal.message} {refusal.retry_after}"

    of_ann = [await ask(ANN) for _ in range(101)]
    of_others = [await ask(caller) for caller in callers for _ in range(90)]
    last = await ask(BOB)
    slow.may_end.set()
    await asyncio.gather(*making)

    assert of_ann == ["waits"] * 100 + ["Requests for parts of contents that wait already: 100. 1"]
    assert of_others == ["waits"] * 900
    assert last == "Requests for parts of contents that wait already: 1000. 1"


@pytest.mark.parametrize(
    ("patience", "seconds", "said"),
    [(0.05, None, "0.05 seconds"), (0.05, 9.0, "0.05 seconds"), (9.0, 0.02, "0.02 seconds")],
)
async def test_nobody_waits_for_ever(patience: float, seconds: float | None, said: str) -> None:
    """Nor longer than they say, and who comes later has their turn."""
    snippets, slow = SnippetReader(patience), Slow()
    first = asyncio.ensure_future(snippets.make(slow.of(ANN), FIRST_LINE, ANN))
    await until(lambda: slow.fetched == ["ann"])

    deadline = None if seconds is None else allow_seconds(seconds)
    with pytest.raises(Overloaded) as refused:
        await snippets.make(slow.of(BOB), FIRST_LINE, BOB, deadline)
    slow.may_end.set()

    assert refused.value.message == f"The request for a part of a content waited {said} in vain."
    assert (await first).body == (await snippets.make(slow.of(BOB), FIRST_LINE, BOB)).body == b"one\n"


async def test_a_part_is_not_waited_for_beyond_the_deadline() -> None:
    """Although its making goes on, and its turn with it."""
    snippets, slow = SnippetReader(), Slow()

    with pytest.raises(Overloaded):
        await snippets.make(slow.of(ANN), FIRST_LINE, ANN, allow_seconds(0.02))
    second = asyncio.ensure_future(snippets.make(slow.of(BOB), FIRST_LINE, BOB))
    await asyncio.sleep(0)
    before = list(slow.fetched)
    slow.may_end.set()

    assert (await second).body == b"one\n"
    assert (before, slow.fetched) == (["ann"], ["ann", "bob"])


async def test_who_leaves_is_not_told_of_what_was_wrong() -> None:
    """Nor is the log: nobody waits for that any more."""
    complaints: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context["message"]))
    may_end = asyncio.Event()

    async def fetch() -> KeptContent:
        await may_end.wait()
        raise UnknownContent

    snippets = SnippetReader()
    making = asyncio.ensure_future(snippets.make(fetch, FIRST_LINE))
    await asyncio.sleep(0)
    making.cancel()
    await asyncio.wait((making,))
    may_end.set()
    with pytest.raises(UnknownContent):
        await snippets.make(fetch, FIRST_LINE)
    gc.collect()

    assert complaints == []


async def test_who_leaves_takes_no_turn() -> None:
    """What has begun ends before the next begins, and what has not begun is left out."""
    fetched: list[str] = []
    may_end = asyncio.Event()

    def fetch(name: str) -> Callable[[], Awaitable[KeptContent]]:
        async def come() -> KeptContent:
            fetched.append(name)
            await may_end.wait()
            return KeptContent("1", "default", "ann", TEXT, b"one\ntwo\n")

        return come

    snippets = SnippetReader()
    first, second, third = (asyncio.ensure_future(snippets.make(fetch(name), FIRST_LINE)) for name in "abc")
    await until(lambda: fetched == ["a"])
    first.cancel()
    second.cancel()
    await asyncio.wait((first, second))
    begun = list(fetched)
    may_end.set()

    assert (await third).body == b"one\n"
    assert (begun, fetched) == (["a"], ["a", "c"])
