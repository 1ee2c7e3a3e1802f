"""Vector stores: created, filled, searched and deleted for each tenant separately."""

import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from uuid_utils import uuid7

from sidecall.feature import Start
from sidecall.features.credentials.server_secrets import secrets_in
from sidecall.features.ledger.open_ledger import IN_MEMORY, open_file_store
from sidecall.features.vector_stores.chunking import Cut
from sidecall.features.vector_stores.embedding import Embeddings
from sidecall.features.vector_stores.file_indexer import GIVEN_UP, FileIndexer, UploadedFiles, WantedMember
from sidecall.features.vector_stores.filters import Attribute
from sidecall.features.vector_stores.passage_search import EVEN, PassageSearch, Weights
from sidecall.features.vector_stores.records import KeptStore, Member, Page, PageRequest, VectorStoreBounds
from sidecall.kernel.ports.file_errors import TooManyFiles, UnknownFile, UnknownVectorStore
from sidecall.kernel.ports.passages import FilePassage
from sidecall.storage.database import Database
from sidecall.storage.outage import LateSteps

_ENDED = "server_error\nThe server ended before the file was read. Add it again."

_UNCUT = Cut()


class VectorStores:
    """The files and stores of all tenants, in one database."""

    def __init__(
        self,
        database: Database,
        bounds: VectorStoreBounds,
        embeddings: Embeddings | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.files = UploadedFiles(database, bounds, clock)
        self.database = database
        self._late = LateSteps()
        self._bounds = bounds
        self._clock = clock
        self._adding = FileIndexer(database, bounds, self.files, self._late, embeddings, clock)
        self._finding = PassageSearch(database, embeddings)

    async def open(self) -> None:
        """Update the tables, and discard unfinished work of an earlier server.

        Raises:
            StoreUnfit: The database cannot be used by this version.
        """
        await self.database.open()
        before = self._clock() - GIVEN_UP if self.database.is_shared else self._clock()

        async def give_up() -> None:
            await self.database.write("give_up_members", "in_progress", before, _ENDED)

        await self._late.take(give_up)

    async def close(self) -> None:
        """Finish pending work, within a bounded time."""
        try:
            await self._late.close()
        finally:
            await self.database.close()

    async def create(self, tenant: str, name: str, metadata: Mapping[str, str]) -> KeptStore:
        """Make a store.

        Raises:
            TooManyFiles: The tenant has the maximum number.
        """
        made = KeptStore(f"vs_{uuid7().hex}", name, metadata, self._clock())
        row = (made.id, tenant, name, json.dumps(dict(metadata)), made.created_at, self._bounds.stores)
        if await self.database.write("put_vector_store", *row) is None:
            raise TooManyFiles(f"Vector stores that you may have: {self._bounds.stores:,}. Delete some.")
        return made

    async def list(self, tenant: str, choice: PageRequest) -> Page[KeptStore]:
        """List some stores of a tenant."""
        where, values = choice.write("s.id", 2)
        rows = await self.database.read("list_vector_stores", tenant, choice.limit + 1, *values, where=where)
        return Page([_read_store(*row) for row in rows[: choice.limit]], len(rows) > choice.limit)

    async def find(self, tenant: str, store_id: str) -> KeptStore:
        """Find a store.

        Raises:
            UnknownVectorStore: The tenant has no such store.
        """
        rows = await self.database.read("list_vector_stores", tenant, 1, store_id, where="AND s.id = $3")
        if not rows:
            raise UnknownVectorStore
        return _read_store(*rows[0])

    async def update(
        self, tenant: str, store_id: str, name: str | None = None, metadata: Mapping[str, str] | None = None
    ) -> KeptStore:
        """Change the name or metadata of a store; None keeps it.

        Raises:
            UnknownVectorStore: The tenant has no such store.
        """
        await self.find(tenant, store_id)
        written = None if metadata is None else json.dumps(dict(metadata))
        await self.database.write("update_vector_store", store_id, tenant, name, written)
        return await self.find(tenant, store_id)

    async def delete(self, tenant: str, store_id: str) -> None:
        """Delete a store; the files stay.

        Raises:
            UnknownVectorStore: The tenant has no such store.
        """
        if "\0" in store_id or await self.database.write("delete_vector_store", store_id, tenant) is None:
            raise UnknownVectorStore

    async def add(
        self, tenant: str, store_id: str, file_id: str, attributes: Mapping[str, Attribute], cut: Cut = _UNCUT
    ) -> Member:
        """Index a file in a store, replacing its earlier version.

        If another request is doing the same, return its present state.

        Raises:
            UnknownVectorStore: The tenant has no such store.
            UnknownFile: The tenant has no such file.
            TooManyFiles: There is no room for it.
            FileBusy: Another request is adding it with other options, or removing it.
        """
        await self.find(tenant, store_id)
        return await self._adding.add(tenant, WantedMember(store_id, file_id, attributes, cut))

    async def list_members(
        self, tenant: str, store_id: str, choice: PageRequest, status: str | None = None
    ) -> Page[Member]:
        """List some files of a store.

        Raises:
            UnknownVectorStore: The tenant has no such store.
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
            UnknownFile: No store of this tenant has it.
        """
        rows = await self.database.read("list_members", tenant, store_id, 1, file_id, where="AND m.file = $4")
        if not rows:
            raise UnknownFile
        return Member.read(*rows[0])

    async def remove(self, tenant: str, store_id: str, file_id: str) -> None:
        """Remove a file from a store; the upload is kept.

        Raises:
            UnknownFile: No store of this tenant has it.
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
        """Find passages of a tenant's files, best first; optionally in some stores only.

        Raises:
            ToolException: The filters are invalid.
        """
        return await self._finding.find(tenant, queries, limit, filters, stores, weights)


def _read_store(store_id: str, name: str, metadata: str, created_at: float, *counts: int) -> KeptStore:
    return KeptStore(store_id, name, json.loads(metadata), created_at, *counts)


def make_vector_stores(start: Start) -> VectorStores:
    """Make the vector stores of a server, next to its ledger; they are opened when the server starts.

    Raises:
        StoreUnfit: There is no such kind of ledger.
    """
    settings = start.server
    embeddings = None
    if settings.embeddings_url is not None:
        find_key = partial(secrets_in(settings.secrets_dir), settings.embeddings_secret)
        embeddings = Embeddings(settings.embeddings_url, settings.embeddings_model, find_key)
    bounds = VectorStoreBounds(settings.file_search_max_files, settings.file_search_max_bytes)
    return VectorStores(open_file_store(settings.store or IN_MEMORY, start.writers), bounds, embeddings)
