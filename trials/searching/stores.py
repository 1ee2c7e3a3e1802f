"""Find documentation by its first lines in vector stores in SQLite and PostgreSQL, as `docstrings` does in a folder."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from sidecall.features.vector_stores.chunking import cut_text
from sidecall.features.vector_stores.file_indexer import make_mark, write_rows
from sidecall.features.vector_stores.records import VectorStoreBounds
from sidecall.features.vector_stores.stores import VectorStores
from sidecall.storage.database import Database
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.tables import FILES
from sidecall.storage.statements import read_statements
from tests.kit.postgres import Cluster, find_programs, running
from trials.finding import Finding
from trials.searching.docstrings import list_samples, read_docstrings, write_finding

# Those of requests look at each file at how many there are; here many come at once.
_LOAD = {
    "load_file": "INSERT INTO files VALUES ($1, $2, $3, $4, $5, $6, $7)",
    "load_member": "INSERT INTO vector_store_files VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
}
_PATIENCE = 60.0


def run() -> Iterator[Finding]:
    """Index all and search."""
    yield from _run(read_docstrings(10_000), 500)


def run_shortly() -> Iterator[Finding]:
    """Do so with fewer."""
    yield from _run(read_docstrings(300, step=4), 40)


def _run(found: Sequence[tuple[str, str]], queries: int) -> Iterator[Finding]:
    texts = [(head, rest.replace("\0", "")) for head, rest in found]
    database = SqliteDatabase(purpose=FILES, statements={**read_statements("sqlite"), **_LOAD})
    yield asyncio.run(_try("vector stores", database, texts, queries, time.process_time))
    programs = find_programs()
    if programs is None:
        return
    with running(programs) as cluster:
        statements = {**read_statements("postgres"), **_LOAD}
        shared = PostgresDatabase(cluster.address(cluster.make_database()), statements, _PATIENCE)
        yield asyncio.run(_try("vector stores, PostgreSQL", shared, texts, queries, lambda: _count_seconds(cluster)))


async def _try(
    row: str, database: Database, texts: Sequence[tuple[str, str]], queries: int, clock: Callable[[], float]
) -> Finding:
    stores = VectorStores(database, VectorStoreBounds())
    await stores.open()
    store = (await stores.create("one", "", {})).id
    begun = clock()
    await _fill(database, store, [rest for _, rest in texts])
    taken = clock() - begun
    shares, times = [], []
    for sample in list_samples(len(texts), queries):
        hits = 0
        for number in sample:
            begun = clock()
            found = [it.filename for it in await stores.search("one", [texts[number][0]], 20)]
            times.append(clock() - begun)
            hits += f"doc{number}" in found
        shares.append(hits / len(sample))
    await stores.close()
    return write_finding(row, f"{len(texts):,} docstrings as files of a store", shares, taken, times)


async def _fill(database: Database, store: str, texts: list[str]) -> None:
    mark = make_mark("one") if database.dialect == "sqlite" else ""
    rows, files, members = [], [], []
    for number, text in enumerate(texts):
        name = f"doc{number}"
        files.append((name, "one", name, "assistants", len(text), 0.0, text.encode()))
        members.append((name, number, "one", store, name, 0.0, "completed", "", "{}", 3200, 1600, len(text)))
        rows += write_rows(number, name, mark, [(piece, None) for piece in cut_text(text)])
    await database.write_all("load_file", files)
    await database.write_all("load_member", members)
    await database.write_all("put_piece", rows)


def _count_seconds(cluster: Cluster) -> float:
    """Return how long those processes of a server have worked that have not ended, on Linux."""
    children = Path(f"/proc/{cluster.pid}/task/{cluster.pid}/children").read_text().split()
    spent = 0
    for process in children:
        with suppress(OSError):
            spent += int(Path(f"/proc/{process}/schedstat").read_text().split()[0])
    return spent / 1e9
