"""What tools say is kept for those who watch at another server, in each database."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecall.features.jobs import progress as progress_module
from sidecall.features.jobs.progress import ProgressBatch, Said, SqlProgress
from sidecall.storage.database import Database
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.postgres import cluster, emptied_url

__all__ = ["cluster", "emptied_url"]


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """Open an empty database of each kind."""
    is_file = request.param == "sqlite"
    made: Database = (
        SqliteDatabase(tmp_path / "ledger.db") if is_file else PostgresDatabase(request.getfixturevalue("emptied_url"))
    )
    await made.open()
    yield made
    await made.close()


def part(attempt: int, last: int, *said: str) -> ProgressBatch:
    """Make what was said, the last of it under this number."""
    words: list[Said] = [("progress", f'{{"message":"{text}"}}'.encode()) for text in said]
    return ProgressBatch(attempt, last, words)


async def test_what_was_said_is_listed_in_its_order(database: Database) -> None:
    """After a number of an attempt, and of later attempts; of this call alone."""
    log, parts = SqlProgress(database), [part(1, 2, "a", "b \u2028 é"), part(1, 3, "c"), part(2, 1, "d e")]
    for each in (*parts, part(1, 3, "again")):
        await log.add("one", each, 0)
    await log.add("other", part(1, 1, "not this"), 0)

    listed = [await log.list_after("one", *heard) for heard in ((0, 0), (1, 1), (1, 2), (1, 3), (2, 1), (3, 0))]

    assert listed == [parts, parts, parts[1:], parts[2:], [], []]


async def test_of_much_the_oldest_is_forgotten(database: Database) -> None:
    """Of the same attempt alone."""
    log = SqlProgress(database)
    await log.add("one", part(1, 5, "earlier"), 0)
    for number in range(1, 6):
        await log.add("one", part(2, number, str(number)), max(0, number - 2))

    listed = await log.list_after("one", 0, 0)

    assert listed == [part(1, 5, "earlier"), part(2, 4, "4"), part(2, 5, "5")]


async def test_what_ended_calls_have_said_is_forgotten_after_a_while(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not before."""
    log = SqlProgress(database)
    await log.add("one", part(1, 1, "a"), 0)
    await log.forget()
    kept = await log.list_after("one", 0, 0)
    monkeypatch.setattr(progress_module, "_KEPT", 0.0)
    await asyncio.sleep(0.01)
    await log.forget()

    assert (kept, await log.list_after("one", 0, 0)) == ([part(1, 1, "a")], [])
