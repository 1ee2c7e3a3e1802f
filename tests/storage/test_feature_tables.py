"""Tables of features of other packages are made and brought up to date with the ledger's."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from sidecall.kernel.core.overload import StoreUnfit
from sidecall.storage.database import Database
from sidecall.storage.feature_tables import FeatureTables, find_tables, list_steps
from sidecall.storage.memory_database import LateDatabase
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.postgres.outage import LEDGER as POSTGRES_LEDGER
from sidecall.storage.sqlite.database import SqliteDatabase
from sidecall.storage.sqlite.tables import LEDGER
from tests.kit.postgres import cluster, emptied_url, postgres_url

__all__ = ["cluster", "emptied_url", "postgres_url"]

pytestmark = pytest.mark.anyio

FIRST = "CREATE TABLE IF NOT EXISTS extra_notes (id text PRIMARY KEY, said text NOT NULL);\n"
QUERIES = """
-- name: extra_add
INSERT INTO extra_notes (id, said) VALUES ($1, $2) RETURNING id

-- name: extra_list
SELECT * FROM extra_notes ORDER BY id
"""


@pytest.fixture
def tables(tmp_path: Path) -> FeatureTables:
    """Describe a table."""
    folder = tmp_path / "extra"
    (folder / "migrations").mkdir(parents=True)
    (folder / "migrations" / "0001_notes.sql").write_text(FIRST)
    (folder / "queries.sql").write_text(QUERIES)
    return FeatureTables("extra", str(folder))


def describe(tables: FeatureTables) -> FeatureTables:
    """Name the same folder anew, as the next version of its package does, which is another one."""
    folder = Path(tables.folder)
    return FeatureTables(tables.feature, str(folder.rename(folder.with_name(f"{folder.name}_"))))


@pytest.fixture(params=["sqlite", "postgres"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[[FeatureTables | None], Database]:
    """Return what names a database of one kind, with the tables of a feature or without."""
    url = request.getfixturevalue("emptied_url") if request.param == "postgres" else None

    def make(tables: FeatureTables | None) -> Database:
        others = () if tables is None else (tables,)
        if url is not None:
            return PostgresDatabase(url, concern=replace(POSTGRES_LEDGER, others=others))
        return SqliteDatabase(tmp_path / "ledger.db", purpose=replace(LEDGER, others=others))

    return make


@asynccontextmanager
async def opened(database: Database) -> AsyncIterator[Database]:
    """Open a database, and close it."""
    await database.open()
    try:
        yield database
    finally:
        await database.close()


async def test_they_are_made_and_kept_and_get_further_steps(
    make: Callable[[FeatureTables | None], Database], tables: FeatureTables
) -> None:
    """Also while the feature is left out for a while, and in a database that is there already."""
    async with opened(make(None)):
        pass
    async with opened(make(tables)) as database:
        await database.write("extra_add", "a", "one")
    async with opened(make(None)) as database:
        await database.write("register_server", "another", 1.0)
    (Path(tables.folder) / "migrations" / "0002_more.sql").write_text(
        "ALTER TABLE extra_notes ADD COLUMN more bigint NOT NULL DEFAULT 7;\n"
        "CREATE INDEX extra_by_said ON extra_notes (said);"
    )
    newer = describe(tables)
    async with opened(make(newer)) as database:
        await database.write("extra_add", "b", "two")
        found = await database.read("extra_list")
    async with opened(make(newer)) as database:
        again = await database.read("extra_list")

    assert found == again == [("a", "one", 7), ("b", "two", 7)]


async def test_those_of_a_newer_or_another_one_are_refused(
    make: Callable[[FeatureTables | None], Database], tables: FeatureTables
) -> None:
    """Nothing is changed in them."""
    steps = Path(tables.folder) / "migrations"
    (steps / "0002_more.sql").write_text("ALTER TABLE extra_notes ADD COLUMN more text;")
    async with opened(make(tables)):
        pass
    (steps / "0002_more.sql").unlink()
    older = describe(tables)
    with pytest.raises(
        StoreUnfit, match="was written by a newer version of the feature extra: its tables have version 2"
    ):
        await make(older).open()
    (Path(older.folder) / "migrations" / "0002_other.sql").write_text("SELECT 1;")
    with pytest.raises(StoreUnfit, match="has other tables of a feature extra than the one that is installed makes"):
        await make(describe(older)).open()


async def test_in_memory_they_are_there_too(tables: FeatureTables) -> None:
    """As are those of our own features, from the first write on."""
    async with opened(LateDatabase((tables,))) as database:
        await database.write("extra_add", "a", "one")
        await database.write("spend", "key", 1, 2, 3)

        assert await database.read("extra_list") == [("a", "one")]
        assert await database.read("read_spending", "key", 1) == [(3,)]


@pytest.mark.parametrize("dialect", ["sqlite", "postgres"])
def test_a_kind_of_database_may_have_steps_of_its_own(tables: FeatureTables, dialect: str) -> None:
    """Where its SQL differs."""
    own = Path(tables.folder) / "migrations" / dialect
    own.mkdir()
    (own / "0001_own.sql").write_text('create table "extra_own" (id text);')

    assert find_tables(list_steps(dialect, [tables])["extra"]) == ("extra_own",)
    assert "costs" in list_steps(dialect)
