"""Stores of files, in which passages are found: made, filled, searched and deleted for each tenant by itself."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from uuid_utils import uuid7

from sidecall.features.vector_stores.adding import GIVEN_UP, Adding, WantedMember
from sidecall.features.vector_stores.embedding import Embeddings
from sidecall.features.vector_stores.files import SentFiles
from sidecall.features.vector_stores.finding import EVEN, PassageFinder, Weights
from sidecall.features.vector_stores.indexing.filters import Attribute
from sidecall.features.vector_stores.kept import Choice, Cut, KeptStore, Member, Page, ShelfBounds
from sidecall.kernel.ports.file_errors import TooManyFiles, UnknownFile, UnknownVectorStore
from sidecall.kernel.ports.passages import FilePassage
from sidecall.storage.database import Database
from sidecall.storage.late_steps import LateSteps

_ENDED = "server_error\nThe server ended before the file was read. Add it again."
_UNCUT = Cut()


class VectorStores:
    """The files and stores of all tenants, in one database."""

    def __init__(
        self,
        database: Database,
        bounds: ShelfBounds,
        embeddings: Embeddings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.files = SentFiles(database, bounds, clock)
        self.database = database
        self._late = LateSteps()
        self._bounds = bounds
        self._clock = clock
        self._adding = Adding(database, bounds, self.files, self._late, embeddings, clock)
        self._finding = PassageFinder(database, embeddings)

    async def open(self) -> None:
        """Bring the tables up to date, and give up what an earlier server has left unfinished.

        Raises:
            StoreUnfit: The database cannot be used by this program.
        """
        await self.database.open()
        before = self._clock() - GIVEN_UP if self.database.is_shared else self._clock()

        async def give_up() -> None:
            await self.database.write("give_up_members", "in_progress", before, _ENDED)

        await self._late.take(give_up)

    async def close(self) -> None:
        """Finish what was begun, for a bounded time."""
        try:
            await self._late.close()
        finally:
            await self.database.close()

    async def create(self, tenant: str, name: str, metadata: Mapping[str, str]) -> KeptStore:
        """Make a store.

        Raises:
            TooManyFiles: The tenant has as many as it may have.
        """
        made = KeptStore(f"vs_{uuid7().hex}", name, metadata, self._clock())
        row = (made.id, tenant, name, json.dumps(dict(metadata)), made.created_at, self._bounds.stores)
        if await self.database.write("put_vector_store", *row) is None:
            raise TooManyFiles(f"Vector stores that you may have: {self._bounds.stores:,}. Delete some.")
        return made

    async def list(self, tenant: str, choice: Choice) -> Page[KeptStore]:
        """List some stores of a tenant."""
        where, values = choice.write("s.id", 2)
        rows = await self.database.read("list_vector_stores", tenant, choice.limit + 1, *values, where=where)
        return Page([_read_store(*row) for row in rows[: choice.limit]], len(rows) > choice.limit)

    async def find(self, tenant: str, store_id: str) -> KeptStore:
        """Find a store.

        Raises:
            UnknownVectorStore: The tenant has none of this id.
        """
        rows = await self.database.read("list_vector_stores", tenant, 1, store_id, where="AND s.id = $3")
        if not rows:
            raise UnknownVectorStore
        return _read_store(*rows[0])

    async def update(
        self, tenant: str, store_id: str, name: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> KeptStore:
        """Give a store another name or other metadata; what is None stays.

        Raises:
            UnknownVectorStore: The tenant has none of this id.
        """
        await self.find(tenant, store_id)
        written = None if metadata is None else json.dumps(dict(metadata))
        await self.database.write("update_vector_store", store_id, tenant, name, written)
        return await self.find(tenant, store_id)

    async def delete(self, tenant: str, store_id: str) -> None:
        """Delete a store; the files stay.

        Raises:
            UnknownVectorStore: The tenant has none of this id.
        """
        if "\0" in store_id or await self.database.write("delete_vector_store", store_id, tenant) is None:
            raise UnknownVectorStore

    async def add(
        self, tenant: str, store_id: str, file_id: str, attributes: Mapping[str, Attribute], cut: Cut = _UNCUT
    ) -> Member:
        """Put a file into a store, in the place of what is there of it.

        Where another request does the same just now, the answer is what that has done so far.

        Raises:
            UnknownVectorStore: The tenant has no such store.
            UnknownFile: The tenant has no such file.
            TooManyFiles: There is no room for it.
            FileBusy: Another request puts it there otherwise, or takes it out, just now.
        """
        await self.find(tenant, store_id)
        return await self._adding.add(tenant, WantedMember(store_id, file_id, attributes, cut))

    async def list_members(self, tenant: str, store_id: str, choice: Choice, status: str | None = None) -> Page[Member]:
        """List some files of a store.

        Raises:
            UnknownVectorStore: The tenant has none of this id.
        """
        await self.find(tenant, store_id)
        condition, values = ("", []) if status is None else ("AND m.status = $4 ", [status])
        where, more = choice.write("m.file", 3 + len(values))
        rows = await self.database.read(
            "list_members", tenant, store_id, choice.limit + 1, *values, *more, where=condition + where
        )
        return Page([Member.read(*row) for row in rows[: choice.limit]], len(rows) > choice.limit)

    async def find_member(self, tenant: str, store_id: str, file_id: str) -> Member:
        """Find a file of a store.

        Raises:
            UnknownFile: There is none in a store of this tenant.
        """
        rows = await self.database.read("list_members", tenant, store_id, 1, file_id, where="AND m.file = $4")
        if not rows:
            raise UnknownFile
        return Member.read(*rows[0])

    async def remove(self, tenant: str, store_id: str, file_id: str) -> None:
        """Take a file out of a store; it is kept.

        Raises:
            UnknownFile: There is none in a store of this tenant.
        """
        member = f"{store_id}/{file_id}"
        if "\0" in member or await self.database.write("delete_member", member, tenant) is None:
            raise UnknownFile

    async def search(
        self,
        tenant: str,
        queries: Sequence[str],
        limit: int,
        filters: Any = None,
        stores: Sequence[str] = (),
        weights: Weights = EVEN,
    ) -> Sequence[FilePassage]:
        """Find passages of a tenant's files, best first; with stores only in those of them that there are.

        Raises:
            ToolException: The filters are none.
        """
        return await self._finding.find(tenant, queries, limit, filters, stores, weights)


def _read_store(store_id: str, name: str, metadata: str, created_at: float, *counts: int) -> KeptStore:
    return KeptStore(store_id, name, json.loads(metadata), created_at, *counts)
