"""Processes are lent in order, and none is lost on the way."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from app.executors.children import Children
from app.executors.frames import pack

GREETING = {"places": [], "use_entry_points": False, "levels": {}, "homes": []}


@pytest.fixture
async def children() -> AsyncIterator[Children]:
    """One process."""
    one = Children(1, lambda: pack(["greet", None, GREETING]))
    yield one
    await one.close()


async def test_who_leaves_while_waiting_is_passed_over(children: Children) -> None:
    """The next in line gets it."""
    child = await children.lend()
    first, second = asyncio.ensure_future(children.lend()), asyncio.ensure_future(children.lend())
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    waiting = children.waiting
    children.give_back(child)

    assert waiting == 1
    assert await second is child
    assert first.cancelled()
    children.give_back(child)


async def test_who_leaves_before_it_arrives_does_not_keep_it(children: Children) -> None:
    """It is on its way to somebody who is gone."""
    child = await children.lend()
    waiting = asyncio.ensure_future(children.lend())
    await asyncio.sleep(0)
    children.give_back(child)
    waiting.cancel()

    assert await children.lend() is child
    assert waiting.cancelled()
    children.give_back(child)


async def test_who_leaves_as_it_arrives_gives_it_back(children: Children) -> None:
    """It has come, but nobody looks any more."""
    child = await children.lend()
    waiting = asyncio.ensure_future(children.lend())
    await asyncio.sleep(0)
    children.give_back(child)
    # Behind the delivery, and before whoever waits wakes up.
    asyncio.get_running_loop().call_soon(waiting.cancel)

    assert await children.lend() is child
    assert waiting.cancelled()
    children.give_back(child)


async def test_none_keeps_its_old_code(children: Children) -> None:
    """Those that are idle are replaced at once, those that are lent when they come back."""
    idle = await children.lend()
    children.give_back(idle)
    children.renew()
    lent = await children.lend()
    children.renew()
    children.give_back(lent)
    fresh = await children.lend()

    assert [idle.number, lent.number, fresh.number] == [1, 2, 3]
    assert children.busy == 1
    children.give_back(fresh)
