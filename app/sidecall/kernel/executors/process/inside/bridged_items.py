"""The server's store, for a tool in a process."""

from dataclasses import asdict
from typing import Any

from sidecall.kernel.executors.process.inside.channel import Channel
from sidecall.kernel.executors.process.questions import decode_item, encode_value, read_reply
from sidecall.kernel.ports.store_items import Item, Namespace, NamespaceSearch, Search


class BridgedItems:
    """Store items by way of the server, which knows the tenant from the call."""

    def __init__(self, channel: Channel, call: str) -> None:
        self._channel = channel
        self._call = call

    @property
    def loop(self) -> None:
        """None: any thread may ask."""

    async def get(self, _tenant: str, namespace: Namespace, key: str, *, refresh: bool = True) -> Item | None:
        """Return the item, or None; `refresh` renews its time to live."""
        return decode_item(await self._ask("get", namespace, key, refresh))

    async def put(self, _tenant: str, namespace: Namespace, key: str, value: Any, ttl: float | None = None) -> None:
        """Store a value, replacing the present one."""
        await self._ask("put", namespace, key, encode_value(value), ttl)

    async def delete(self, _tenant: str, namespace: Namespace, key: str) -> None:
        """Delete the item, if it exists."""
        await self._ask("delete", namespace, key)

    async def search(self, _tenant: str, namespace: Namespace, search: Search) -> list[Item]:
        """List the items at and below a namespace, oldest first."""
        options = {"filter": dict(search.filter) or None, "limit": search.limit, "offset": search.offset}
        found = await self._ask("search", namespace, options, search.refresh)
        return [item for told in found if (item := decode_item(told)) is not None]

    async def list_namespaces(self, _tenant: str, search: NamespaceSearch) -> list[Namespace]:
        """List the namespaces that have items, in order."""
        wanted = asdict(search)
        options = {"prefix": wanted["prefix"] or None, "suffix": wanted["suffix"] or None, "max_depth": search.depth}
        found = await self._ask("list_namespaces", {**options, "limit": search.limit, "offset": search.offset})
        return [tuple(namespace) for namespace in found]

    async def _ask(self, name: str, *values: Any) -> Any:
        return read_reply(await self._channel.ask_without_blocking("ask", self._call, [name, *values]))
