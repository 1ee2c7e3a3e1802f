"""A pooler that gives each transaction another connection is found out, and one that leaves it to us is used."""

import asyncio
from collections.abc import Iterator

import pytest

from sidecall.kernel.core.overload import StoreUnavailable, StoreUnfit
from sidecall.storage.postgres.database import PostgresDatabase
from tests.kit.postgres import Cluster
from tests.storage.postgres.test_database import wait_until
from tests.storage.sql.pooler import Pooler

POOLED = "a pooler gives each transaction another connection: use its session mode, or name the database itself"


@pytest.fixture
def pooler(cluster: Cluster) -> Iterator[Pooler]:
    """Give a pooler that is not started yet."""
    pooler = Pooler(cluster)
    yield pooler
    pooler.stop()


async def test_a_pooler_of_transactions_is_refused_at_the_start(pooler: Pooler, postgres_url: str) -> None:
    """With what to do about it; each start finds it out, also where others have left statements in its sessions."""
    pooler.start("transaction")
    url = pooler.wrap(postgres_url)
    said = []

    for database in (*(PostgresDatabase(url) for _ in range(3)), PostgresDatabase(url, readers=1, writers=1)):
        with pytest.raises(StoreUnfit) as refused:
            await database.open()
        said.append(str(refused.value))

    begin = f"The database {url.partition('@')[2]} (SIDECALL_STORE) cannot be used: "
    assert said[0] == f"{begin}{POOLED}."
    assert [one.startswith(begin) and one.endswith(f"{POOLED}.") for one in said] == [True] * 4


async def test_a_pooler_of_sessions_is_used(pooler: Pooler, postgres_url: str) -> None:
    """By several servers at once, and again by those that come after them."""
    pooler.start("session")
    for _ in range(2):
        databases = [PostgresDatabase(pooler.wrap(postgres_url)) for _ in range(3)]
        await asyncio.gather(*(database.open() for database in databases))

        written = (
            database.write("register_server", str(number), 1.0) for database in databases for number in range(40)
        )
        assert None not in await asyncio.gather(*written)
        await asyncio.gather(*(database.close() for database in databases))


async def test_a_pooler_that_begins_to_share_sessions_is_found_out_by_a_server_that_runs(
    pooler: Pooler, postgres_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """It is out of use with the reason, until the pooler is set right."""
    pooler.start("session")
    database = PostgresDatabase(pooler.wrap(postgres_url))
    await database.open()

    await asyncio.to_thread(pooler.stop)
    await asyncio.to_thread(pooler.start, "transaction")
    await wait_until(lambda: (database.trouble or "").endswith(POOLED))
    with pytest.raises(StoreUnavailable):
        await database.write("register_server", "a", 1.0)
    await asyncio.to_thread(pooler.stop)
    await asyncio.to_thread(pooler.start, "session")
    await wait_until(lambda: database.trouble is None)

    assert await database.write("register_server", "b", 1.0) == ("b",)
    assert [record.levelname for record in caplog.records][-1] == "WARNING"
    await database.close()
