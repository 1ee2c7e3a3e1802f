"""The databases that tests of remembered calls share."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecall.storage.database import Database
from sidecall.storage.postgres.database import PostgresDatabase
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.postgres import cluster, emptied_url, postgres_url

__all__ = ["cluster", "emptied_url", "postgres_url"]


@pytest.fixture(params=["sqlite", "postgres"])
async def database(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Database]:
    """Give a database with nothing in it."""
    made: Database = (
        PostgresDatabase(request.getfixturevalue("emptied_url"))
        if request.param == "postgres"
        else SqliteDatabase(tmp_path / "ledger.db")
    )
    await made.open()
    yield made
    await made.close()
