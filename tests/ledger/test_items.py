"""The store in memory remembers from call to call, and keeps tools apart."""

from typing import Annotated, Any

import pytest

from sidecall import InjectedStore, Store, ToolContext, tool
from sidecall.core.errors import MissingContext
from sidecall.core.store import ItemStore
from sidecall.ledger.items import MemoryItems

CALL = {"type": "tool_call", "name": "remember", "args": {"text": "tea"}, "id": "call_1"}


@pytest.fixture
def store() -> ItemStore:
    """A store with three items."""
    store = ItemStore(MemoryItems())
    store.put(("users", "ada"), "tea", {"kind": "drink", "cups": 1})
    store.put(("users", "bob"), "cake", {"kind": "food"})
    store.put(("teams",), "note", "plain text")
    return store


def test_what_was_put_can_be_got(store: ItemStore) -> None:
    """With its place and its times."""
    item = store.get(("users", "ada"), "tea")

    assert item is not None
    assert (item.namespace, item.key, item.value) == (("users", "ada"), "tea", {"kind": "drink", "cups": 1})
    assert item.created_at == item.updated_at


def test_a_second_put_replaces_the_value(store: ItemStore) -> None:
    """And keeps the time of the first."""
    before = store.get(("users", "ada"), "tea")
    store.put(("users", "ada"), "tea", "cold")
    after = store.get(("users", "ada"), "tea")

    assert before is not None
    assert after is not None
    assert after.value == "cold"
    assert after.created_at == before.created_at


def test_what_was_deleted_is_gone(store: ItemStore) -> None:
    """Deleting what is not there is no error."""
    store.delete(("users", "ada"), "tea")
    store.delete(("users", "ada"), "tea")

    assert store.get(("users", "ada"), "tea") is None


def test_nobody_changes_what_others_read(store: ItemStore) -> None:
    """Values are copied on their way in and out."""
    value = {"list": [1]}
    store.put(("users",), "mine", value)
    value["list"].append(2)
    item = store.get(("users",), "mine")
    assert item is not None
    item.value["list"].append(3)

    again = store.get(("users",), "mine")

    assert again is not None
    assert again.value == {"list": [1]}


@pytest.mark.parametrize(
    ("namespace", "options", "keys"),
    [
        (("users",), {}, ["tea", "cake"]),  # and below it
        ((), {}, ["tea", "cake", "note"]),  # everywhere
        (("users", "ada"), {}, ["tea"]),
        (("use",), {}, []),  # whole names only
        ((), {"filter": {"kind": "food"}}, ["cake"]),
        ((), {"filter": {"kind": "drink", "cups": 2}}, []),
        ((), {"limit": 1}, ["tea"]),
        ((), {"offset": 2}, ["note"]),
    ],
)
def test_items_are_found(store: ItemStore, namespace: tuple[str, ...], options: Any, keys: list[str]) -> None:
    """By namespace and by members of their values, oldest first."""
    assert [item.key for item in store.search(namespace, **options)] == keys


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
