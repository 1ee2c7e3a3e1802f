"""Uploaded files in a database."""

import time
from collections.abc import Callable

from uuid_utils import uuid7

from sidecall.features.vector_stores.kept import KeptFile, Page, PageRequest, VectorStoreBounds
from sidecall.kernel.ports.file_errors import InvalidFile, TooManyFiles, UnknownFile
from sidecall.storage.database import Database

LONGEST_NAME = 255


class UploadedFiles:
    """Keep files as they are, each for its tenant, until they are deleted."""

    def __init__(self, database: Database, bounds: VectorStoreBounds, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._bounds = bounds
        self._clock = clock

    async def put(self, tenant: str, name: str, purpose: str, body: bytes) -> KeptFile:
        """Store a file.

        Raises:
            InvalidFile: It has no printable name.
            TooManyFiles: Its tenant has no room left.
            StoreUnavailable: The database is unavailable.
        """
        if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
            raise InvalidFile(f"The file needs a name of 1 to {LONGEST_NAME} printable characters.")
        kept = KeptFile(f"file-{uuid7().hex}", name, purpose, len(body), self._clock())
        row = (kept.id, tenant, name, purpose, kept.size, kept.created_at, body)
        if await self._database.write("put_file", *row, self._bounds.files, self._bounds.bytes) is None:
            raise TooManyFiles(format_bounds(self._bounds))
        return kept

    async def list(self, tenant: str, choice: PageRequest, purpose: str | None = None) -> Page[KeptFile]:
        """List some files of a tenant."""
        values: list[str] = []
        condition = ""
        if purpose is not None:
            condition, values = "AND purpose = $3 ", [purpose]
        where, more = choice.write("id", 2 + len(values))
        found = await self._database.read(
            "list_files", tenant, choice.limit + 1, *values, *more, where=condition + where
        )
        return Page([KeptFile(*row) for row in found[: choice.limit]], len(found) > choice.limit)

    async def find(self, tenant: str, file_id: str) -> KeptFile:
        """Find a file.

        Raises:
            UnknownFile: The tenant has none of this id.
        """
        found = await self._database.read("list_files", tenant, 1, file_id, where="AND id = $3")
        if not found:
            raise UnknownFile
        return KeptFile(*found[0])

    async def read(self, tenant: str, file_id: str) -> bytes:
        """Return the bytes of a file.

        Raises:
            UnknownFile: The tenant has no such file.
        """
        found = await self._database.read("read_file", file_id, tenant)
        if not found:
            raise UnknownFile
        return bytes(found[0][0])

    async def delete(self, tenant: str, file_id: str) -> None:
        """Delete a file from the uploads and all stores.

        Raises:
            UnknownFile: The tenant has no such file.
        """
        if "\0" in file_id or await self._database.write("delete_file", file_id, tenant) is None:
            raise UnknownFile


def format_bounds(bounds: VectorStoreBounds) -> str:
    """Describe how much a tenant may store."""
    return (
        f"Files that you may keep: {bounds.files:,}, with {bounds.bytes:,} bytes, those of pieces in stores "
        "with them. Delete some."
    )
