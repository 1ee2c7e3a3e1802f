"""Index a file in a store: its text, in pieces."""

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from uuid_utils import uuid7

from sidecall.features.vector_stores.chunking import Cut, cut_text
from sidecall.features.vector_stores.embedding import Embeddings
from sidecall.features.vector_stores.filters import Attribute, list_attributes
from sidecall.features.vector_stores.index import strip_ending, write_piece_words
from sidecall.features.vector_stores.records import KeptFile, Member, MemberStatus, Page, PageRequest, VectorStoreBounds
from sidecall.features.vector_stores.texts import UnreadableFile, is_pdf, read_text
from sidecall.kernel.concurrency.pools import PASSAGES, PDFS
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.file_errors import FileBusy, InvalidFile, TooManyFiles, UnknownFile, UnknownVectorStore
from sidecall.storage.database import Database, Row
from sidecall.storage.outage import LateSteps

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


# Seconds after which a file that another server is adding is no longer waited for.
GIVEN_UP = 600.0
# Attempts to reserve a place while others reserve and release it.
_TRIES = 5

_TAKEN_OUT = "Another request has taken this file out of this store, while it was put in."

_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")

_UNKEPT = re.compile("[\x00\ud800-\udfff]")


def make_mark(tenant: str) -> str:
    """Return a tenant's prefix of words in the index, so that other tenants' files do not affect their ranking.

    It has no vowels and cannot be a suffix, so stemming works behind it as without it.
    """
    return hashlib.sha256(tenant.encode()).hexdigest()[:8].translate(_LETTERS)


@dataclass(frozen=True, slots=True)
class WantedMember:
    """A file to be added to a store."""

    store: str
    file: str
    attributes: Mapping[str, Attribute]
    cut: Cut


@dataclass(slots=True)
class FileIndexer:
    """Adds files to stores, for one server."""

    database: Database
    bounds: VectorStoreBounds
    files: UploadedFiles
    late: LateSteps
    embeddings: Embeddings | None = None
    clock: Callable[[], float] = time.time

    async def add(self, tenant: str, wanted: WantedMember) -> Member:
        """Index a file in a store, replacing its earlier version; an unreadable file is listed as failed.

        If another request is doing the same, return its present state.

        Raises:
            UnknownVectorStore: The store has gone.
            UnknownFile: The tenant has no such file.
            TooManyFiles: There is no room for it.
            FileBusy: Another request is adding it with other options, or removing it.
            StoreUnavailable: The database is unavailable.
        """
        found = await self.files.find(tenant, wanted.file)
        body = await self.files.read(tenant, wanted.file)
        number = secrets.randbits(62)
        try:
            # Each kind of file has its own threads, so that texts do not wait for PDFs.
            text = await (PDFS if is_pdf(body) else PASSAGES).run_for((tenant, ""), read_text, found.name, body)
            pieces = await PASSAGES.run_for((tenant, ""), _cut, text, wanted.cut)
            vectors = await self._embed(pieces)
        except UnreadableFile as error:
            return await self._take_place(tenant, number, self._make(wanted, 0, error))
        new = self._make(wanted, sum(len(piece.encode()) for piece in pieces), None)
        there = await self._take_place(tenant, number, new)
        if there is not new:
            return there
        await self._fill(tenant, number, new, found.name, list(zip(pieces, vectors, strict=True)))
        return replace(new, status="completed")

    def _make(self, wanted: WantedMember, size: int, error: UnreadableFile | None) -> Member:
        said = None if error is None else (error.code, error.message)
        status: MemberStatus = "in_progress" if error is None else "failed"
        return Member(wanted.file, wanted.store, self.clock(), status, said, wanted.attributes, wanted.cut, size)

    async def _embed(self, pieces: Sequence[str]) -> Sequence[bytes | None]:
        return [None] * len(pieces) if self.embeddings is None else await self.embeddings.embed(pieces)

    async def _take_place(self, tenant: str, number: int, new: Member) -> Member:
        """Return the new member if it has the place and the room, otherwise the one that another request put there."""
        for _ in range(_TRIES):
            await self.database.write("make_way", new.id, tenant, self.clock() - GIVEN_UP)
            if await self._put(tenant, number, new):
                return new
            rows = await self.database.read("list_members", tenant, new.store, 1, new.file, where="AND m.file = $4")
            there = Member.read(*rows[0]) if rows else None
            if there is None:
                await self._require_room(tenant, new)
            elif there.is_wanted_as(new):
                return there
            elif there.status == "in_progress":
                break
        raise FileBusy("Another request puts this file into this store otherwise just now. Try again.")

    async def _put(self, tenant: str, number: int, new: Member) -> bool:
        said = "" if new.error is None else "\n".join(new.error)
        head = (new.id, number, tenant, new.store, new.file, new.created_at, new.status, said)
        row = (*head, json.dumps(dict(new.attributes)), new.cut.piece, new.cut.overlap, new.size)
        try:
            return await self.database.write("put_member", *row, self.bounds.bytes, self.bounds.files) is not None
        except StoreUnavailable:
            raise
        except Exception:
            # A database with foreign keys refuses members of what was just deleted.
            await self._require_room(tenant, new)
            raise

    async def _require_room(self, tenant: str, new: Member) -> None:
        """Refuse a file whose store or upload was deleted, or for which there is no room."""
        members, *sizes = await self._require_both(tenant, new)
        if members >= self.bounds.files or sum(sizes) + new.size > self.bounds.bytes:
            raise TooManyFiles(format_bounds(self.bounds))

    async def _fill(
        self, tenant: str, number: int, new: Member, name: str, pieces: Sequence[tuple[str, bytes | None]]
    ) -> None:
        mark = make_mark(tenant) if self.database.dialect == "sqlite" else ""
        try:
            rows = await PASSAGES.run_for((tenant, ""), write_rows, number, name, mark, pieces)
            await self.database.write_all("put_piece", rows)
            await self.database.write_all("put_attribute", list_attributes(number, new.attributes))
            if await self.database.write("finish_member", new.id, number) is None:
                raise FileBusy(_TAKEN_OUT)
        except BaseException as error:
            # Otherwise its place would stay taken without a file.
            was_there = await self._take_back(new.id, number)
            if isinstance(error, Exception) and not isinstance(error, StoreUnavailable):
                await self._require_both(tenant, new)
                if not was_there:
                    raise FileBusy(_TAKEN_OUT) from None
            raise

    async def _require_both(self, tenant: str, new: Member) -> Sequence[int]:
        """Refuse a file whose store or upload was deleted; return the number and bytes of the files in stores."""
        ((stores, files, *counts),) = await self.database.read("count_member_room", tenant, new.store, new.file)
        if not stores:
            raise UnknownVectorStore
        if not files:
            raise UnknownFile
        return counts

    async def _take_back(self, member: str, number: int) -> bool:
        """Release the place, as soon as the database is available; return whether it was still held."""
        drop = partial(self._drop, member, number)
        try:
            return await drop()
        except StoreUnavailable:
            await self.late.take(drop)
            return True

    async def _drop(self, member: str, number: int) -> bool:
        dropped = await self.database.write("drop_member", member, number)
        await self.database.write("delete_pieces", number)
        await self.database.write("delete_attributes", number)
        return dropped is not None


def write_rows(number: int, name: str, mark: str, pieces: Sequence[tuple[str, bytes | None]]) -> list[Row]:
    """Write the pieces of a file for the database."""
    return [(number, text, *write_piece_words(strip_ending(name), text, mark), vector) for text, vector in pieces]


def _cut(text: str, cut: Cut) -> list[str]:
    return cut_text(_UNKEPT.sub("", text), cut.piece, cut.overlap)
