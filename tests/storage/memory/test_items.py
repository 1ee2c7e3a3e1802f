"""The store in memory remembers from call to call, and takes no more room than it may."""

from contextlib import suppress
from typing import Annotated

import pytest

from sidecall import InjectedStore, Store, ToolContext, tool
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.items import StoreFull
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.errors import MissingContext

CALL = {"type": "tool_call", "name": "remember", "args": {"text": "tea"}, "id": "call_1"}


@tool
def remember(text: str, store: Annotated[Store, InjectedStore], context: ToolContext) -> str:
    """Remember a text.

    Args:
        text: What to remember.
    """
    store.put(("notes",), text, len(text))
    return f"{len(store.search(('notes',)))} {context.store is store}"


async def test_tools_remember_from_call_to_call() -> None:
    """The parameter is hidden from the model and filled by the server."""
    store = ItemStore(MemoryItems())

    first = await remember.ainvoke(CALL, store=store)
    second = await remember.ainvoke({**CALL, "args": {"text": "cake", "store": "forged"}}, store=store)

    assert (first.content, second.content) == ("1 True", "2 True")
    assert second.response_metadata["ignored_args"] == ["store"]


async def test_a_tool_without_its_store_is_the_callers_mistake() -> None:
    """Only in-process; a server has one."""
    with pytest.raises(MissingContext, match="needs a store for its parameter `store`"):
        await remember.ainvoke(CALL)


async def test_a_store_that_is_wanted_but_not_needed_may_be_missing() -> None:
    """The function's default is used."""

    @tool
    def look(store: Annotated[Store | None, InjectedStore] = None) -> bool:
        """Look."""
        return store is None

    assert await look.ainvoke({}) is True


def test_no_more_is_remembered_than_there_is_room_for() -> None:
    """What was there stays; what is deleted or replaced makes room."""
    store = ItemStore(MemoryItems(10_000))
    store.put(("notes",), "a", "x" * 4000)
    store.put(("notes",), "b", "x" * 4000)

    for key, value in (("c", "x" * 4000), ("b", "x" * 6000), ("c", [{}] * 2000)):
        with pytest.raises(StoreFull, match=r"as much as they may \(SIDECALL_MAX_STORE_BYTES\)"):
            store.put(("notes",), key, value)
    before = [len(item.value) for item in store.search(("notes",))]
    store.put(("notes",), "b", "y" * 3000)
    store.delete(("notes",), "a")
    store.put(("notes",), "c", "x" * 4000)

    assert before == [4000, 4000]
    assert [len(item.value) for item in store.search(("notes",))] == [3000, 4000]


def test_small_items_are_counted_with_what_they_cost() -> None:
    """Empty ones too, in however many namespaces."""
    store = ItemStore(MemoryItems(100_000))

    with suppress(StoreFull):
        [store.put((str(number),), "", "") for number in range(1000)]

    assert 50 < len(store.search((), limit=1000)) < 200


def test_one_tenant_takes_the_room_of_all() -> None:
    """The bound is the server's."""
    items = MemoryItems(5000)
    ItemStore(items, "acme").put(("a",), "a", "x" * 3000)

    with pytest.raises(StoreFull):
        ItemStore(items, "other").put(("a",), "a", "x" * 3000)
