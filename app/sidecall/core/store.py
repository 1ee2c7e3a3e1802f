"""What tools may remember from call to call."""

import asyncio
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, Self, TypeVar, cast, runtime_checkable

T = TypeVar("T")

Namespace = tuple[str, ...]

DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Item:
    """One remembered value, and when it was made and changed."""

    namespace: Namespace
    key: str
    value: Any
    created_at: datetime
    updated_at: datetime


class SyncStore(Protocol):
    """The part of a store that a program must bring when it passes one of its own to a tool."""

    def get(self, namespace: Namespace, key: str) -> Item | None:
        """Return the item, None if there is none."""

    def put(self, namespace: Namespace, key: str, value: Any) -> None:
        """Remember a value, in place of the one that is there."""

    def delete(self, namespace: Namespace, key: str) -> None:
        """Forget the item; nothing happens if there is none."""

    def search(
        self, namespace: Namespace, *, filter: Mapping[str, Any] | None = None, limit: int = 10, offset: int = 0
    ) -> list[Item]:
        """List the items at and below a namespace, oldest first, whose value has these members."""


@runtime_checkable
class Store(SyncStore, Protocol):
    """Remember values under a namespace and a key, as LangGraph's BaseStore does.

    Async tools use the methods that begin with an `a`; the others are for tools that run in a thread.
    """

    async def aget(self, namespace: Namespace, key: str) -> Item | None:
        """Return the item, None if there is none."""

    async def aput(self, namespace: Namespace, key: str, value: Any) -> None:
        """Remember a value, in place of the one that is there."""

    async def adelete(self, namespace: Namespace, key: str) -> None:
        """Forget the item; nothing happens if there is none."""

    async def asearch(
        self, namespace: Namespace, *, filter: Mapping[str, Any] | None = None, limit: int = 10, offset: int = 0
    ) -> list[Item]:
        """List the items at and below a namespace, oldest first, whose value has these members."""


@dataclass(frozen=True, slots=True)
class Search:
    """Which items are looked for: those whose value has these members, `limit` of them after the first `offset`."""

    members: Mapping[str, Any]
    limit: int
    offset: int


class Items(Protocol):
    """Where the items of all tenants are kept; each tenant has its own."""

    @property
    def loop(self) -> asyncio.AbstractEventLoop | None:
        """The event loop on which the methods have to run; None when they never wait and may run in any thread."""

    async def get(self, tenant: str, namespace: Namespace, key: str) -> Item | None:
        """Return the item, None if there is none."""

    async def put(self, tenant: str, namespace: Namespace, key: str, value: Any) -> None:
        """Keep a value, in place of the one that is there; the item keeps the time of the first."""

    async def delete(self, tenant: str, namespace: Namespace, key: str) -> None:
        """Remove the item; nothing happens if there is none."""

    async def search(self, tenant: str, namespace: Namespace, search: Search) -> list[Item]:
        """List the items at and below a namespace, oldest first."""


class StoreWouldBlock(RuntimeError):
    """A sync method of the store would have to wait on the event loop, which would then stand still."""


class ItemStore:
    """The store of one tenant, over items that are kept anywhere.

    Its sync methods may be called from any thread. On the event loop they serve as long as nothing has to be waited
    for.
    """

    def __init__(self, items: Items, tenant: str = DEFAULT_TENANT) -> None:
        self._items = items
        self._tenant = tenant

    def of(self, tenant: str) -> Self:
        """Return the store of this tenant."""
        return self if tenant == self._tenant else type(self)(self._items, tenant)

    def get(self, namespace: Namespace, key: str) -> Item | None:
        """Return the item, None if there is none.

        Raises:
            StoreWouldBlock: Use `aget` here.
        """
        return self._finish("get", self._items.get(self._tenant, tuple(namespace), key))

    def put(self, namespace: Namespace, key: str, value: Any) -> None:
        """Remember a value, in place of the one that is there.

        Raises:
            StoreWouldBlock: Use `aput` here.
        """
        self._finish("put", self._items.put(self._tenant, tuple(namespace), key, value))

    def delete(self, namespace: Namespace, key: str) -> None:
        """Forget the item; nothing happens if there is none.

        Raises:
            StoreWouldBlock: Use `adelete` here.
        """
        self._finish("delete", self._items.delete(self._tenant, tuple(namespace), key))

    def search(
        self, namespace: Namespace, *, filter: Mapping[str, Any] | None = None, limit: int = 10, offset: int = 0
    ) -> list[Item]:
        """List the items at and below a namespace, oldest first, whose value has these members.

        Raises:
            StoreWouldBlock: Use `asearch` here.
        """
        search = Search(filter or {}, limit, offset)
        return self._finish("search", self._items.search(self._tenant, tuple(namespace), search))

    async def aget(self, namespace: Namespace, key: str) -> Item | None:
        """Return the item, None if there is none."""
        return await self._wait(self._items.get(self._tenant, tuple(namespace), key))

    async def aput(self, namespace: Namespace, key: str, value: Any) -> None:
        """Remember a value, in place of the one that is there."""
        await self._wait(self._items.put(self._tenant, tuple(namespace), key, value))

    async def adelete(self, namespace: Namespace, key: str) -> None:
        """Forget the item; nothing happens if there is none."""
        await self._wait(self._items.delete(self._tenant, tuple(namespace), key))

    async def asearch(
        self, namespace: Namespace, *, filter: Mapping[str, Any] | None = None, limit: int = 10, offset: int = 0
    ) -> list[Item]:
        """List the items at and below a namespace, oldest first, whose value has these members."""
        search = Search(filter or {}, limit, offset)
        return await self._wait(self._items.search(self._tenant, tuple(namespace), search))

    async def _wait(self, coroutine: Coroutine[Any, Any, T]) -> T:
        loop = self._items.loop
        if loop is None or loop is asyncio.get_running_loop():
            return await coroutine
        # An async tool that blocks has a loop of its own, in a thread.
        return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(coroutine, loop))

    def _finish(self, name: str, coroutine: Coroutine[Any, Any, T]) -> T:
        loop = self._items.loop
        if loop is not None and loop is not _find_running_loop():
            return asyncio.run_coroutine_threadsafe(coroutine, loop).result()
        try:
            coroutine.send(None)
        except StopIteration as done:
            result: T = done.value
            return result
        coroutine.close()
        raise StoreWouldBlock(
            f"store.{name}() has to wait here, which would hold up all other calls; write `await store.a{name}(...)` "
            f"in an async tool, or let a sync one run in a thread."
        )


def _find_running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def pick_tenant(store: Store | SyncStore | None, tenant: str) -> Store | None:
    """Return this tenant's part of a store; one that a program brought itself is handed on as it is."""
    # Of a sync one the program's own tools know that they cannot await it.
    return store.of(tenant) if isinstance(store, ItemStore) else cast("Store | None", store)
