"""A ledger in each of the places where one can be."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecall.core.store.tenant import ItemStore
from tests.kit.ledgers import KINDS, Clock, Place, open_place
from tests.kit.postgres import cluster, emptied_url, postgres_url

__all__ = ["cluster", "emptied_url", "ledger", "postgres_url"]


@pytest.fixture(params=KINDS)
async def ledger(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    """Give a place with nothing in it."""
    url = request.getfixturevalue("emptied_url") if request.param == "postgres" else ""
    async with open_place(request.param, tmp_path, url) as place:
        yield place


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
