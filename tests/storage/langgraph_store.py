"""The store of tools behind LangGraph's own interface, so that what holds for its stores can be tried on ours."""

from collections.abc import Iterable
from typing import Any

from langgraph.store.base import BaseStore, Item, Op, Result, SearchItem

from sidecall.features.store.item_store import ItemStore
from sidecall.kernel.ports import store as ours


class AsLangGraph(BaseStore):
    """A store of LangGraph's that keeps everything in one of ours."""

    supports_ttl = True

    def __init__(self, store: ItemStore) -> None:
        self._store = store

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Have ours do it, and give what comes of it as LangGraph's."""
        return [_convert(result) for result in self._store.batch(ops)]

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same."""
        return [_convert(result) for result in await self._store.abatch(ops)]


def _convert(result: Any) -> Any:
    if isinstance(result, list):
        return [_convert(item) for item in result]
    if isinstance(result, ours.SearchItem):
        return SearchItem(**_members(result), score=result.score)
    return Item(**_members(result)) if isinstance(result, ours.Item) else result


def _members(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ("namespace", "key", "value", "created_at", "updated_at")}
