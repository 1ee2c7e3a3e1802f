"""The store of tools behind LangGraph's own interface, so that what holds for its stores can be tried on ours."""

import asyncio
from collections.abc import Iterable
from typing import Any

from langgraph.store.base import BaseStore, GetOp, Item, ListNamespacesOp, Op, PutOp, Result, SearchItem, SearchOp

from sidecall.core.store.tenant import ItemStore


class AsLangGraph(BaseStore):
    """A store of LangGraph's that keeps everything in one of ours."""

    supports_ttl = True

    def __init__(self, store: ItemStore) -> None:
        self._store = store

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do one after the other; what reads comes first, as in LangGraph's own store in memory."""
        ops = list(ops)
        found = [None if isinstance(op, PutOp) else self._read(op) for op in ops]
        for op in ops:
            if isinstance(op, PutOp):
                self._write(op)
        return found

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do the same, in a thread."""
        return await asyncio.to_thread(self.batch, ops)

    def _read(self, op: Any) -> Result:
        if isinstance(op, GetOp):
            item = self._store.get(op.namespace, op.key, refresh_ttl=op.refresh_ttl)
            return None if item is None else Item(**_members(item))
        if isinstance(op, SearchOp):
            found = self._store.search(
                op.namespace_prefix,
                query=op.query,
                filter=op.filter,
                limit=op.limit,
                offset=op.offset,
                refresh_ttl=op.refresh_ttl,
            )
            return [SearchItem(**_members(item)) for item in found]
        assert isinstance(op, ListNamespacesOp)
        paths = {condition.match_type: condition.path for condition in op.match_conditions or ()}
        return self._store.list_namespaces(
            prefix=paths.get("prefix"),
            suffix=paths.get("suffix"),
            max_depth=op.max_depth,
            limit=op.limit,
            offset=op.offset,
        )

    def _write(self, op: PutOp) -> None:
        if op.value is None:
            self._store.delete(op.namespace, op.key)
        else:
            self._store.put(op.namespace, op.key, op.value, op.index, ttl=op.ttl)


def _members(item: Any) -> dict[str, Any]:
    return {name: getattr(item, name) for name in ("namespace", "key", "value", "created_at", "updated_at")}
