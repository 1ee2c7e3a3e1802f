"""The store that LangChain hides from the model."""

import copy
from typing import Annotated, Any, Optional

import pytest
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import InjectedStore
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore

from sidecall import StructuredTool, tool
from sidecall.compat.foreign.hidden_parameters import type_store
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core import injection


def _shown(made: StructuredTool) -> list[str]:
    return list(made.compiled.args_schema.flat["properties"])


@langchain_tool
def remember(text: str, store: Annotated[BaseStore, InjectedStore()]) -> list[str]:
    """Remember a text."""
    store.put(("notes",), text, {"text": text})
    return [item.key for item in store.search(("notes",))]


@langchain_tool
async def remember_late(text: str, store: Annotated[Optional[BaseStore], InjectedStore()] = None) -> list[str]:  # noqa: UP045
    """Remember a text."""
    assert isinstance(store, BaseStore)
    await store.aput(("notes",), text, {"text": text})
    return [item.key for item in await store.asearch(("notes",))]


@pytest.mark.parametrize("theirs", [remember, remember_late])
async def test_the_store_passes_for_one_of_langgraph(theirs: Any) -> None:
    """LangChain refuses what is of another class; one that a program brings is handed on as it is."""
    made, brought = tool(theirs), InMemoryStore()

    ours = await made.ainvoke({"text": "a"}, store=ItemStore(MemoryItems()))

    assert (_shown(made), ours) == (["text"], ["a"])
    assert await made.ainvoke({"text": "b"}, store=brought) == ["b"]
    assert brought.get(("notes",), "b") is not None


def test_a_store_that_passes_for_another_can_be_copied() -> None:
    """Into a process where its tool runs; what it does not have is missed."""
    kept = type_store(injection.InjectedStore(), Annotated[BaseStore, InjectedStore()]).adapt(ItemStore(MemoryItems()))

    copied = copy.copy(kept)
    copied.put(("notes",), "a", {"text": "a"})

    assert isinstance(copied, BaseStore)
    assert kept.get(("notes",), "a").value == {"text": "a"}
    assert not hasattr(kept, "_batch")
