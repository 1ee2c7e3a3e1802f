"""Excerpts are made one at a time, and nobody's leaving changes that."""

import asyncio
from collections.abc import Awaitable, Callable

from sidecall.core.contents import TEXT, KeptContent
from sidecall.rest.excerpts import Excerpts, Wanted
from tests.kit.waiting import until

FIRST_LINE = Wanted("1", None, ignore_case=False, path=None)


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
