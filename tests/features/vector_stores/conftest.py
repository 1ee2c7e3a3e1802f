"""Stores of files in each kind of database."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from sidecall.features.ledger.open_ledger import open_file_store
from sidecall.features.vector_stores.records import VectorStoreBounds
from sidecall.features.vector_stores.stores import VectorStores
from tests.kit.ledgers import KINDS
from tests.kit.postgres import cluster, emptied_url, postgres_url

__all__ = ["cluster", "emptied_url", "postgres_url", "store_url", "stores"]


@pytest.fixture(params=KINDS)
def store_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give the URL of a store of each kind with nothing in it."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("emptied_url")
        return url
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'ledger.db'}"


@pytest.fixture
async def stores(store_url: str) -> AsyncIterator[VectorStores]:
    """Give stores with room for four files, 3,000 bytes and two stores of one tenant."""
    made = VectorStores(open_file_store(store_url), VectorStoreBounds(files=4, bytes=3000, stores=2))
    await made.open()
    yield made
    await made.close()
