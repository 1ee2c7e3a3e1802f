"""Find passages of a tenant's files, by their words and by what they mean."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sidecall.features.vector_stores.embedding import EmbeddingFailed, Embeddings
from sidecall.features.vector_stores.file_indexer import make_mark
from sidecall.features.vector_stores.filters import write_filter
from sidecall.features.vector_stores.index import (
    find_nearest_vectors,
    fuse,
    list_query_words,
    spread,
    to_share,
    write_words,
)
from sidecall.kernel.concurrency.fair_queue import Shares
from sidecall.kernel.concurrency.pools import PASSAGES
from sidecall.kernel.ports.passages import FilePassage
from sidecall.storage.database import LONG_READS, Database

# Candidates for each wanted piece, since several of one file may rank high.
_MORE = 3
# Vectors that are read at once, and in all.
_PAGE = 2000
MOST_VECTORS = 50_000


@dataclass(frozen=True, slots=True)
class Weights:
    """The weights of the order by meaning and of the one by words."""

    meaning: float = 1.0
    words: float = 1.0


EVEN = Weights()


@dataclass(frozen=True, slots=True)
class _Where:
    """The condition for files, after the first three placeholders, and its values."""

    condition: str
    values: Sequence[Any]


class PassageSearch:
    """Finds passages in one database; tenants take turns, since a search may take seconds."""

    def __init__(self, database: Database, embeddings: Embeddings | None = None) -> None:
        self.database = database
        self.embeddings = embeddings
        self._shares = Shares(LONG_READS[database.dialect])

    async def find(
        self,
        tenant: str,
        queries: Sequence[str],
        limit: int,
        filters: Any = None,
        stores: Sequence[str] = (),
        weights: Weights = EVEN,
    ) -> list[FilePassage]:
        """Find passages that fit any of these texts, best first.

        Raises:
            ToolException: The filters are invalid.
            StoreUnavailable: The database is unavailable, or too many searches wait.
        """
        where = _write_where(filters, stores)
        many = limit * _MORE
        async with self._shares.take((tenant, "")):
            by_words = [await self._find_by_words(tenant, query, many, where) for query in queries]
        vectors = await self._embed(queries) if weights.meaning > 0 else []
        by_meaning: list[list[int]] = []
        if vectors:
            async with self._shares.take((tenant, "")):
                by_meaning = await self._find_by_meaning(tenant, vectors, many, where)
        scores: dict[int, float] = {}
        if by_meaning:
            orders = [(weights.words, list(found)) for found in by_words if found and weights.words > 0]
            scores = fuse([*orders, *((weights.meaning, order) for order in by_meaning)])
        else:
            for found in by_words:
                for piece, score in found.items():
                    scores[piece] = max(scores.get(piece, 0.0), to_share(score))
        return await self._show(tenant, scores, limit)

    async def _embed(self, queries: Sequence[str]) -> list[bytes]:
        if self.embeddings is None:
            return []
        try:
            return await self.embeddings.embed(queries)
        except EmbeddingFailed:
            return []  # Words are found without the service.

    async def _find_by_words(self, tenant: str, query: str, limit: int, where: _Where) -> dict[int, float]:
        """Return pieces with their scores, best first."""
        if self.database.dialect == "sqlite":
            words = write_words(query, make_mark(tenant))
        else:
            words = " ".join(list_query_words(query))
        if not words:
            return {}
        rows = await self.database.read("search_pieces", words, tenant, limit, *where.values, where=where.condition)
        return {piece: float(score) for piece, score in rows}

    async def _find_by_meaning(
        self, tenant: str, vectors: Sequence[bytes], limit: int, where: _Where
    ) -> list[list[int]]:
        found: list[dict[int, bytes]] = [{} for _ in vectors]
        last, looked = -1, 0
        while looked < MOST_VECTORS:
            rows = await self.database.read("list_vectors", tenant, last, _PAGE, *where.values, where=where.condition)
            page = {piece: bytes(vector) for piece, vector in rows}
            for number, wanted in enumerate(vectors):
                nearest = await PASSAGES.run_for(
                    (tenant, ""), find_nearest_vectors, wanted, found[number] | page, limit
                )
                known = found[number] | page
                found[number] = {piece: known[piece] for piece in nearest}
            if len(rows) < _PAGE:
                break
            last, looked = rows[-1][0], looked + len(rows)
        return [list(nearest) for nearest in found]

    async def _show(self, tenant: str, scores: Mapping[int, float], limit: int) -> list[FilePassage]:
        if not scores:
            return []
        order = sorted(scores, key=lambda piece: (-scores[piece], piece))
        places = ", ".join(f"${number}" for number in range(2, 2 + len(order)))
        rows = await self.database.read("show_pieces", tenant, *order, where=places)
        shown: dict[int, FilePassage] = {}
        for piece, file, store, name, attributes, text in rows:
            score = round(scores[piece], 4)
            shown[piece] = FilePassage(file, name, score, text, json.loads(attributes), store)
        # A file that is in two stores is found once.
        unique = {(it.file_id, it.text): it for piece in reversed(order) if (it := shown.get(piece)) is not None}
        return spread(reversed(unique.values()), lambda it: it.file_id, lambda it: it.score)[:limit]


def _write_where(filters: Any, stores: Sequence[str]) -> _Where:
    values: list[Any] = list(stores)
    condition = ""
    if stores:
        places = ", ".join(f"${number}" for number in range(4, 4 + len(stores)))
        condition = f"AND m.store IN ({places})"
    if filters is not None:
        written, more = write_filter(filters, after=3 + len(stores))
        condition += f" AND {written}"
        values += more
    return _Where(condition, values)
