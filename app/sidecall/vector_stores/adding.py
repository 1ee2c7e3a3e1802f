"""Put a file into a store: its text, in pieces that can be found."""

import asyncio
import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping, Sequence

from sidecall.core.overload import StoreUnavailable
from sidecall.core.run.file_errors import FileConflict, TooManyFiles, UnknownFile
from sidecall.indexing.cutting import cut_text
from sidecall.indexing.filters import Attribute, list_attributes
from sidecall.indexing.words import strip_ending, write_piece_words
from sidecall.ledger.sql.database import Database, Row
from sidecall.records import dataclass
from sidecall.vector_stores.embedding import Embeddings
from sidecall.vector_stores.files import SentFiles, word_bounds
from sidecall.vector_stores.kept import Cut, ShelfBounds
from sidecall.vector_stores.reading.texts import read_text
from sidecall.vector_stores.reading.unreadable import UnreadableFile

_LETTERS = str.maketrans("0123456789abcdef", "bcdfghjklmnpqrst")
_UNKEPT = re.compile("[\x00\ud800-\udfff]")


def make_mark(tenant: str) -> str:
    """Return what stands before the words of a tenant, so that those of others say nothing about their worth.

    It has no vowels, and none would be a suffix: stems are found behind it as without it.
    """
    return hashlib.sha256(tenant.encode()).hexdigest()[:8].translate(_LETTERS)


@dataclass(frozen=True, slots=True)
class WantedMember:
    """A file that is to be in a store."""

    store: str
    file: str
    attributes: Mapping[str, Attribute]
    cut: Cut

    @property
    def id(self) -> str:
        """Its id among all files of all stores."""
        return f"{self.store}/{self.file}"


@dataclass(slots=True)
class Adding:
    """Put files into stores, for one server."""

    database: Database
    bounds: ShelfBounds
    files: SentFiles
    embeddings: Embeddings | None = None
    clock: Callable[[], float] = time.time

    async def add(self, tenant: str, wanted: WantedMember) -> None:
        """Put a file into a store, in the place of what is there of it; what cannot be read is there as failed.

        Raises:
            UnknownFile: The tenant has no such file, or the store has gone.
            TooManyFiles: There is no room for it.
            FileConflict: Somebody else puts it there just now.
            StoreUnavailable: The database cannot be used just now.
        """
        found = await self.files.find(tenant, wanted.file)
        body = await self.files.read(tenant, wanted.file)
        number = secrets.randbits(62)
        try:
            pieces = await asyncio.to_thread(_cut, found.name, body, wanted.cut)
            vectors = await self._embed(pieces)
        except UnreadableFile as error:
            await self._begin(tenant, wanted, number, 0, error)
            return
        await self._begin(tenant, wanted, number, sum(len(piece.encode()) for piece in pieces), None)
        try:
            mark = make_mark(tenant) if self.database.dialect == "sqlite" else ""
            await self._write(number, found.name, wanted, mark, list(zip(pieces, vectors, strict=True)))
        except StoreUnavailable:
            raise
        except Exception as error:
            # It was deleted meanwhile: a database that minds what belongs together takes nothing of it.
            raise UnknownFile from error
        if await self.database.write("finish_member", wanted.id, number) is None:
            await self.database.write("delete_pieces", number)
            await self.database.write("delete_attributes", number)
            raise UnknownFile

    async def _embed(self, pieces: Sequence[str]) -> Sequence[bytes | None]:
        return [None] * len(pieces) if self.embeddings is None else await self.embeddings.embed(pieces)

    async def _begin(
        self, tenant: str, wanted: WantedMember, number: int, size: int, error: UnreadableFile | None
    ) -> None:
        """Take the place and the room for a file."""
        status = "in_progress" if error is None else "failed"
        said = "" if error is None else f"{error.code}\n{error.message}"
        head = (wanted.id, number, tenant, wanted.store, wanted.file, self.clock(), status, said)
        row = (*head, json.dumps(dict(wanted.attributes)), wanted.cut.piece, wanted.cut.overlap, size)
        await self.database.write("delete_member", wanted.id, tenant)
        if await self.database.write("put_member", *row, self.bounds.bytes, self.bounds.files) is not None:
            return
        await self.files.find(tenant, wanted.file)
        if await self.database.read("list_members", tenant, wanted.store, 1, wanted.file, where="AND m.file = $4"):
            raise FileConflict("This file is put into this store by another request just now.")
        raise TooManyFiles(word_bounds(self.bounds))

    async def _write(
        self, number: int, name: str, wanted: WantedMember, mark: str, pieces: Sequence[tuple[str, bytes | None]]
    ) -> None:
        rows = await asyncio.to_thread(write_rows, number, name, mark, pieces)
        await self.database.write_all("put_piece", rows)
        await self.database.write_all("put_attribute", list_attributes(number, wanted.attributes))


def write_rows(number: int, name: str, mark: str, pieces: Sequence[tuple[str, bytes | None]]) -> list[Row]:
    """Write the pieces of a file for the database."""
    return [(number, text, *write_piece_words(strip_ending(name), text, mark), vector) for text, vector in pieces]


def _cut(name: str, body: bytes, cut: Cut) -> list[str]:
    return cut_text(_UNKEPT.sub("", read_text(name, body)), cut.piece, cut.overlap)
