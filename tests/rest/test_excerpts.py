"""Excerpts are made one at a time, and nobody's leaving changes that."""

import asyncio
import gc
from collections.abc import Awaitable, Callable

import pytest

from sidecall.core.contents import TEXT, KeptContent
from sidecall.core.errors import UnknownContent
from sidecall.rest.excerpts import Excerpts, Wanted
from tests.kit.waiting import until

FIRST_LINE = Wanted("1", None, ignore_case=False, path=None)


async def test_who_leaves_is_not_told_of_what_was_wrong() -> None:
    """Nor is the log: nobody waits for that any more."""
    complaints: list[str] = []
    asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context["message"]))
    may_end = asyncio.Event()

    async def fetch() -> KeptContent:
        await may_end.wait()
        raise UnknownContent

    excerpts = Excerpts()
    making = asyncio.ensure_future(excerpts.make(fetch, FIRST_LINE))
    await asyncio.sleep(0)
    making.cancel()
    await asyncio.wait((making,))
    may_end.set()
    with pytest.raises(UnknownContent):
        await excerpts.make(fetch, FIRST_LINE)
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

    excerpts = Excerpts()
    first, second, third = (asyncio.ensure_future(excerpts.make(fetch(name), FIRST_LINE)) for name in "abc")
    await until(lambda: fetched == ["a"])
    first.cancel()
    second.cancel()
    await asyncio.wait((first, second))
    begun = list(fetched)
    may_end.set()

    assert (await third).body == b"one\n"
    assert (begun, fetched) == (["a"], ["a", "c"])
