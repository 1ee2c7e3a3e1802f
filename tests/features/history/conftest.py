"""Where a history may be kept."""

from pathlib import Path

import pytest

from tests.kit.ledgers import KINDS
from tests.kit.postgres import cluster, emptied_url, postgres_url

__all__ = ["cluster", "emptied_url", "postgres_url", "store"]


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Give the URL of a store of each kind with nothing in it."""
    if request.param == "postgres":
        url: str = request.getfixturevalue("emptied_url")
        return url
    return "memory://" if request.param == "memory" else f"sqlite:///{tmp_path / 'ledger.db'}"
