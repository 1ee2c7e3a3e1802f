"""Tools see one store, wherever it keeps its items and wherever they run."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from langgraph.store.memory import InMemoryStore

from sidecall import Caller, GetOp, InjectedStore, PutOp, SearchOp, Store, ToolContext, tool
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.items import NamespaceSearch, Search
from sidecall.features.store.memory_store import MemoryItems
from sidecall.features.store.operations import StoreWouldBlock
from sidecall.kernel.core.invocation import new_invocation
from sidecall.kernel.core.services import CallServices, ToolResources
from sidecall.kernel.ports.store import Item, Namespace
from tests.kit.calls import write_request

NOTES = ("notes",)


class SlowItems:
    """Keep items like a database that is reached from one event loop; those under `("near",)` are cached."""

    def __init__(self) -> None:
        self._items = MemoryItems()
        self.loop = asyncio.get_running_loop()

    async def _reach(self, namespace: Namespace) -> None:
        assert asyncio.get_running_loop() is self.loop
        if namespace != ("near",):
            await asyncio.sleep(0)

    async def get(self, tenant: str, namespace: Namespace, key: str, *, refresh: bool = True) -> Item | None:
        """Wait, then look."""
        await self._reach(namespace)
        return await self._items.get(tenant, namespace, key, refresh=refresh)

    async def put(self, tenant: str, namespace: Namespace, key: str, value: Any, ttl: float | None = None) -> None:
        """Wait, then keep."""
        await self._reach(namespace)
        await self._items.put(tenant, namespace, key, value, ttl)

    async def delete(self, tenant: str, namespace: Namespace, key: str) -> None:
        """Wait, then remove."""
        await self._reach(namespace)
        await self._items.delete(tenant, namespace, key)

    async def search(self, tenant: str, namespace: Namespace, search: Search) -> list[Item]:
        """Wait, then list."""
        await self._reach(namespace)
        return await self._items.search(tenant, namespace, search)

    async def list_namespaces(self, tenant: str, search: NamespaceSearch) -> list[Namespace]:
        """Wait, then list."""
        await self._reach(search.prefix)
        return await self._items.list_namespaces(tenant, search)


@pytest.fixture(params=["memory", "slow"])
async def store(request: pytest.FixtureRequest) -> ItemStore:
    """Give a store that never waits, and one that always does."""
    return ItemStore(MemoryItems() if request.param == "memory" else SlowItems())


def _use(store: Store) -> list[Any]:
    """Do everything with a store that can be done."""
    store.put(NOTES, "a", {"n": 1})
    store.put((*NOTES, "old"), "b", {"n": 2})
    store.put(NOTES, "c", {"n": 1})
    store.delete(NOTES, "c")
    found = store.get(NOTES, "a")
    return [
        found and found.value,
        store.get(NOTES, "c"),
        [item.key for item in store.search(NOTES)],
        [item.key for item in store.search(NOTES, filter={"n": 2}, limit=1)],
        [item.key for item in store.search(NOTES, offset=1)],
        store.list_namespaces(suffix=("old",)),
        [item and item.key for item in store.batch([GetOp(NOTES, "a"), PutOp(NOTES, "d", 1), PutOp(NOTES, "d", None)])],
    ]


async def _use_async(store: Store) -> list[Any]:
    """Do the same in async code."""
    await store.aput(NOTES, "a", {"n": 1})
    await store.aput((*NOTES, "old"), "b", {"n": 2})
    await store.aput(NOTES, "c", {"n": 1})
    await store.adelete(NOTES, "c")
    found = await store.aget(NOTES, "a")
    return [
        found and found.value,
        await store.aget(NOTES, "c"),
        [item.key for item in await store.asearch(NOTES)],
        [item.key for item in await store.asearch(NOTES, filter={"n": 2}, limit=1)],
        [item.key for item in await store.asearch(NOTES, offset=1)],
        await store.alist_namespaces(suffix=("old",)),
        [
            item and item.key
            for item in await store.abatch([GetOp(NOTES, "a"), PutOp(NOTES, "d", 1), PutOp(NOTES, "d", None)])
        ],
    ]


USED: list[Any] = [{"n": 1}, None, ["a", "b"], ["b"], ["b"], [("notes", "old")], ["a", None, None]]


@tool
def use(store: Annotated[Store, InjectedStore]) -> list[Any]:
    """Use the store in a thread."""
    return _use(store)


@tool
async def use_async(store: Annotated[Store, InjectedStore]) -> list[Any]:
    """Use the store on the event loop."""
    return await _use_async(store)


@tool(executor="thread")
async def use_elsewhere(store: Annotated[Store, InjectedStore]) -> list[Any]:
    """Use the store on an event loop in a thread, in both ways."""
    found = await _use_async(store)
    assert _use(store) == found
    return found


@pytest.mark.parametrize("using", [use, use_async, use_elsewhere], ids=lambda using: str(using.name))
async def test_tools_use_a_store_wherever_they_run(store: ItemStore, using: Any) -> None:
    """Whether or not it has to wait."""
    assert await using.ainvoke({}, store=store) == USED


def test_code_without_an_event_loop_uses_the_store_in_memory() -> None:
    """As a test does that makes ready what a tool will find."""
    store = ItemStore(MemoryItems())
    store.put(NOTES, "z", "kept")

    assert use.invoke({}, store=store)[2] == ["z", "a", "b"]
    assert store.get(NOTES, "b") is None
    assert [item.key for item in store.search(NOTES)] == ["z", "a", "b"]


WAITING: list[Any] = [
    pytest.param("get", lambda store, at: store.get(at, "a"), id="get"),
    pytest.param("put", lambda store, at: store.put(at, "a", 1), id="put"),
    pytest.param("delete", lambda store, at: store.delete(at, "a"), id="delete"),
    pytest.param("search", lambda store, at: store.search(at), id="search"),
    pytest.param("list_namespaces", lambda store, at: store.list_namespaces(prefix=at), id="list_namespaces"),
    pytest.param("batch", lambda store, at: store.batch([SearchOp(at)])[0], id="batch"),
]


@pytest.mark.parametrize(("name", "use"), WAITING)
async def test_a_store_that_would_block_the_event_loop_says_what_to_write(name: str, use: Any) -> None:
    """All other calls would stand still meanwhile."""
    with pytest.raises(StoreWouldBlock) as refused:
        use(ItemStore(SlowItems()), NOTES)

    assert str(refused.value) == (
        f"store.{name}() has to wait here, which would hold up all other calls; "
        f"write `await store.a{name}(...)` in an async tool, or let a sync one run in a thread."
    )


@pytest.mark.parametrize(("name", "use"), WAITING)
async def test_what_need_not_be_waited_for_is_served_on_the_event_loop(name: str, use: Any) -> None:
    """As everything in memory is."""
    assert use(ItemStore(SlowItems()), ("near",)) in (None, [])


async def test_each_tenant_has_its_own_items(store: ItemStore) -> None:
    """Of the same name, too."""
    acme = store.of("acme")
    await store.aput(NOTES, "a", "ours")
    await acme.aput(NOTES, "a", "theirs")
    await acme.aput(NOTES, "b", "theirs")
    await acme.adelete(NOTES, "b")
    await store.adelete(NOTES, "b")

    found = [await one.aget(NOTES, "a") for one in (store, acme, store.of("default"))]
    listed = [await one.asearch(NOTES) for one in (store, acme, store.of("other"))]

    assert [item and item.value for item in found] == ["ours", "theirs", "ours"]
    assert [[item.value for item in items] for items in listed] == [["ours"], ["theirs"], []]


@pytest.mark.parametrize(("tenant", "found"), [("default", "ours"), ("acme", None)])
async def test_a_tool_gets_the_store_of_its_callers_tenant(tenant: str, found: Any) -> None:
    """It need not know that there are others."""
    store = ItemStore(MemoryItems())
    store.put(NOTES, "a", "ours")
    request = write_request("use", caller=Caller("ada", tenant))

    context = new_invocation(request, use.compiled, None, CallServices(ToolResources(store))).tool_context
    assert context.store is not None
    item = context.store.get(NOTES, "a")

    assert (item and item.value) == found


class Own:
    """A store of a program's own, which is not async."""

    def __init__(self) -> None:
        self.items: dict[tuple[Namespace, str], Item] = {}

    def get(self, namespace: Namespace, key: str) -> Item | None:
        """Look."""
        return self.items.get((namespace, key))

    def put(self, namespace: Namespace, key: str, value: Any) -> None:
        """Keep."""
        self.items[namespace, key] = value

    def delete(self, namespace: Namespace, key: str) -> None:
        """Remove."""
        del self.items[namespace, key]

    def search(
        self, namespace: Namespace, *, filter: Mapping[str, Any] | None = None, limit: int = 10, offset: int = 0
    ) -> list[Item]:
        """List."""
        assert not filter
        found = [item for (place, _), item in self.items.items() if place == namespace]
        return found[offset : offset + limit]


@pytest.mark.parametrize("own", [Own(), InMemoryStore()], ids=["sync", "LangGraph's"])
async def test_a_store_of_ones_own_reaches_the_tool_as_it_is(own: Any) -> None:
    """With all else that it can do."""
    given: list[Any] = []

    @tool
    def look(store: Annotated[Any, InjectedStore], context: ToolContext) -> None:
        """Look at what there is."""
        given.extend((store, context.store))

    await look.ainvoke({}, store=own)

    assert [store is own for store in given] == [True, True]


def test_the_store_of_a_server_is_a_store() -> None:
    """The protocol can be checked when a store is handed over."""
    assert isinstance(ItemStore(MemoryItems()), Store)


def test_langgraphs_store_is_a_store() -> None:
    """It has the methods that tools use."""
    assert isinstance(InMemoryStore(), Store)


def test_anything_else_is_not() -> None:
    """A dictionary has `get`, and that is not enough."""
    assert not isinstance({}, Store)
