"""A file, and a process that writes it for all workers."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecall.storage.sqlite.shared_writer import SharedWriter
from sidecall.storage.sqlite.tables import LEDGER


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Name a file."""
    return tmp_path / "ledger.db"


@pytest.fixture
def writer(path: Path) -> Iterator[SharedWriter]:
    """Keep a process at work that writes it."""
    made = SharedWriter(path, LEDGER)
    made.open()
    yield made
    made.close()
