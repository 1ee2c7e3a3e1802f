"""What tools remember, as time goes by and threads look."""

import asyncio
from collections.abc import Callable
from typing import Any

from sidecall import GetOp, PutOp, ToolRuntime, tool
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.operations import StoreWouldBlock
from tests.kit.ledgers import Clock

USERS = ("users",)
MINUTE = 60.0


async def test_an_item_is_forgotten_some_minutes_after_its_last_use(store: ItemStore, clock: Clock) -> None:
    """Getting and finding it is a use, unless it is said not to be."""
    await store.aput(USERS, "got", 1, ttl=1)
    await store.aput(USERS, "found", 1, ttl=1)
    await store.aput(USERS, "looked at", 1, ttl=1)
    await store.aput(USERS, "kept", 1)

    clock.now += 0.75 * MINUTE
    assert await store.aget(USERS, "got") is not None
    assert await store.aget(USERS, "looked at", refresh_ttl=False) is not None
    assert [item.key for item in await store.asearch(USERS, offset=1, limit=1)] == ["found"]
    assert len(await store.asearch(USERS, refresh_ttl=False)) == 4
    clock.now += 0.75 * MINUTE
    assert await store.aget(USERS, "looked at") is None
    assert [item.key for item in await store.asearch(USERS, refresh_ttl=False)] == ["got", "found", "kept"]
    clock.now += 0.75 * MINUTE
    assert [item.key for item in await store.asearch(USERS)] == ["kept"]
    assert await store.aget(USERS, "found") is None


async def test_a_put_begins_the_time_anew_or_ends_it(store: ItemStore, clock: Clock) -> None:
    """What has expired counts as never there."""
    for key in ("renewed", "without end", "expired"):
        await store.aput(USERS, key, 1, ttl=1)
    await store.aput(("gone",), "a", 1, ttl=1)
    clock.now += 0.5 * MINUTE
    await store.aput(USERS, "renewed", 2, ttl=2)
    await store.aput(USERS, "without end", 2)
    clock.now += 1 * MINUTE
    await store.aput(USERS, "expired", 2)

    found = await store.asearch((), refresh_ttl=False)
    assert [(item.key, item.created_at.timestamp()) for item in found] == [
        ("renewed", clock.now - 90), ("without end", clock.now - 90), ("expired", clock.now)
    ]  # fmt: skip
    assert await store.alist_namespaces() == [USERS]
    clock.now += 1000 * MINUTE
    assert [item.key for item in await store.asearch(())] == ["without end", "expired"]


async def test_threads_use_the_store(filled: ItemStore) -> None:
    """While the event loop goes on."""

    def use(number: int) -> Any:
        filled.put(("threads", str(number)), "a", number, ttl=5)
        item = filled.get(("threads", str(number)), "a")
        return item and item.value

    used = await asyncio.gather(*(asyncio.to_thread(use, number) for number in range(20)))

    assert used == list(range(20))
    assert len(await filled.alist_namespaces(prefix=("threads",))) == 20


async def test_who_cannot_wait_changes_nothing(filled: ItemStore) -> None:
    """On the event loop a database cannot be waited for; what is in memory need not be."""
    before = await filled.asearch(())
    uses: list[Callable[[], Any]] = [
        lambda: filled.get(("teams",), "note"),
        lambda: filled.search(()),
        lambda: filled.search((), filter={"kind": "food"}),
        lambda: filled.list_namespaces(),
        lambda: filled.put(("teams",), "other", 1),
        lambda: filled.delete(("teams",), "note"),
        lambda: filled.batch([PutOp(("teams",), "note", None), GetOp(("teams",), "note")]),
    ]
    refused = 0
    for use in uses:
        try:
            use()
        except StoreWouldBlock:
            refused += 1
    after = await asyncio.gather(*(filled.asearch(()) for _ in range(10)))

    assert refused in (0, len(uses))
    assert refused == 0 or after == [before] * 10


@tool
async def keep(q: str, runtime: ToolRuntime) -> str:
    """Keep something, as LangGraph's tools do."""
    runtime.store.put(("made",), "k", {"q": q})
    found = runtime.store.get(("made",), "k")
    return f"{found.value['q']} {len(runtime.store.search(('made',)))}"


async def test_an_async_tool_may_use_what_waits(filled: ItemStore) -> None:
    """It runs in a thread then."""
    assert await keep.ainvoke({"q": "tea"}, store=filled) == "tea 1"
