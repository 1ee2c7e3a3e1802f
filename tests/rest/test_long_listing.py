"""What `GET /tools` answers about many tools is written in a thread."""

import asyncio
import threading
from functools import partial
from typing import Any

import pytest

from sidecall import Registry, tool
from sidecall.kernel.core.errors import InvalidParameter
from sidecall.rest.listings import Listing, Listings, make_listing


@tool
async def first() -> None:
    """Come first."""


@tool(is_enabled=lambda _: True)
async def sometimes() -> None:
    """Be there for some."""


@pytest.mark.parametrize(
    ("tools", "count", "times", "is_here"),
    [([first], 100, 2, True), ([first], 101, 1, False), ([first, sometimes], 101, 2, False)],
    ids=["few", "many", "conditional"],
)
async def test_a_long_listing_is_written_in_a_thread_once(
    tools: list[Any], count: int, times: int, is_here: bool
) -> None:
    """For all who ask meanwhile and are answered the same."""
    registry = Registry(tools)
    listings, threads = Listings(registry), list[int]()

    def write() -> Listing:
        threads.append(threading.get_ident())
        return make_listing(b"[1]")

    make = partial(listings.make, b"strict=true", registry.version, count, write)
    made = await asyncio.gather(make(), make())

    assert made == [make_listing(b"[1]")] * 2
    assert len(threads) == times
    assert (threading.get_ident() in threads) is is_here
    assert (listings.find(b"strict=true") is None) is registry.is_conditional


async def test_who_leaves_does_not_end_a_listing_for_others() -> None:
    """And what cannot be answered is told to all, and tried again."""
    registry = Registry([first])
    listings, go = Listings(registry), threading.Event()

    def write() -> Listing:
        go.wait(10)
        raise InvalidParameter("`cursor` leads nowhere")

    tasks = [asyncio.create_task(listings.make(b"cursor=x", registry.version, 101, write)) for _ in range(2)]
    await asyncio.sleep(0)
    tasks[0].cancel()
    await asyncio.wait(tasks[:1])
    go.set()

    with pytest.raises(InvalidParameter, match="leads nowhere"):
        await tasks[1]
    made = make_listing(b"[1]")
    assert await listings.make(b"cursor=x", registry.version, 101, lambda: made) is made
