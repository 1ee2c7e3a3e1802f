"""Find documentation by its first lines in a vector store in SQLite, as `docstrings` does in a folder."""

import asyncio
import time
from collections.abc import Iterator

from sidecall.indexing.cutting import cut_text
from sidecall.ledger.sql.sqlite.file import FILES
from sidecall.ledger.sql.sqlite.opened import SqliteDatabase
from sidecall.ledger.sql.statements import read_statements
from sidecall.vector_stores.adding import make_mark, write_rows
from sidecall.vector_stores.kept import ShelfBounds
from sidecall.vector_stores.stores import VectorStores
from tests.trials.finding import Finding
from tests.trials.searching.docstrings import list_samples, read_docstrings, write_finding

# Those of requests look at each file at how many there are; here many come at once.
_LOAD = {
    "load_file": "INSERT INTO files VALUES ($1, $2, $3, $4, $5, $6, $7)",
    "load_member": "INSERT INTO vector_store_files VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
}


def run() -> Iterator[Finding]:
    """Index all and search."""
    yield asyncio.run(_try(10_000, 500))


def run_shortly() -> Iterator[Finding]:
    """Do so with fewer."""
    yield asyncio.run(_try(1000, 40))


async def _try(most: int, queries: int) -> Finding:
    texts = [(head, rest.replace("\0", "")) for head, rest in read_docstrings(most)]
    database = SqliteDatabase(purpose=FILES, statements={**read_statements("sqlite"), **_LOAD})
    stores = VectorStores(database, ShelfBounds())
    await stores.open()
    store = (await stores.create("one", "", {})).id
    begun = time.process_time()
    await _fill(database, store, [rest for _, rest in texts])
    taken = time.process_time() - begun
    shares, times = [], []
    for sample in list_samples(len(texts), queries):
        hits = 0
        for number in sample:
            begun = time.process_time()
            found = [it.filename for it in await stores.search("one", [texts[number][0]], 20)]
            times.append(time.process_time() - begun)
            hits += f"doc{number}" in found
        shares.append(hits / len(sample))
    await stores.close()
    return write_finding("vector stores", f"{len(texts):,} docstrings as files of a store", shares, taken, times)


async def _fill(database: SqliteDatabase, store: str, texts: list[str]) -> None:
    mark, rows, files, members = make_mark("one"), [], [], []
    for number, text in enumerate(texts):
        name = f"doc{number}"
        files.append((name, "one", name, "assistants", len(text), 0.0, text.encode()))
        members.append((name, number, "one", store, name, 0.0, "completed", "", "{}", 3200, 1600, len(text)))
        rows += write_rows(number, name, mark, [(piece, None) for piece in cut_text(text)])
    await database.write_all("load_file", files)
    await database.write_all("load_member", members)
    await database.write_all("put_piece", rows)
