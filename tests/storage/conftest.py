"""A ledger in each of the places where one can be."""

from collections.abc import AsyncIterator

import pytest

from sidecall.features.store.item_store import ItemStore
from tests.kit.ledgers import KINDS, Clock, InMemory, Kept, Place, open_file, open_postgres
from tests.kit.postgres import Cluster, cluster, emptied_url, estate, postgres_url
from tests.storage.sql.disks import disk

__all__ = ["cluster", "disk", "emptied_url", "estate", "ledger", "postgres_url"]


@pytest.fixture(scope="module", params=KINDS)
async def lasting(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Kept | None]:
    """Open a database for all tests of a module; None stands for memory."""
    if request.param == "memory":
        yield None
    elif request.param == "sqlite":
        async with open_file(tmp_path_factory.mktemp("kept") / "ledger.db") as kept:
            yield kept
    else:
        cluster: Cluster = request.getfixturevalue("cluster")
        async with open_postgres(cluster.address("postgres")) as kept:
            yield kept


@pytest.fixture
async def ledger(lasting: Kept | None) -> AsyncIterator[Place]:
    """Give a place with nothing in it."""
    if lasting is not None:
        yield await lasting.offer()
        return
    in_memory = InMemory()
    yield in_memory
    await in_memory.close()


@pytest.fixture
def clock() -> Clock:
    """Give a clock that stands still."""
    return Clock(1_000_000.0)


@pytest.fixture
async def store(ledger: Place, clock: Clock) -> ItemStore:
    """Give an empty store."""
    return ItemStore(ledger.items(clock))


@pytest.fixture
async def filled(store: ItemStore) -> ItemStore:
    """Give a store with four items."""
    await store.aput(("users", "ada"), "tea", {"kind": "drink", "cups": 1, "of": {"leaf": "green", "grams": 2.5}})
    await store.aput(("users", "bob"), "cake", {"kind": "food", "cups": 3, "tags": ["sweet", "soft"]})
    await store.aput(("teams",), "note", "plain text")
    await store.aput(("users", "ada", "old"), "milk", {"kind": "drink", "cups": 10, "of": None})
    return store
