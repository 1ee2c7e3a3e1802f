"""Clocks that a test sets, where something expires only once that is wanted, however slow the machine is."""

import time
from collections.abc import Iterator
from functools import partial
from types import SimpleNamespace

import pytest

from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.ledger import open_ledger, sql_ledger
from tests.kit.ledgers import Clock


@pytest.fixture
def approval_clock() -> Iterator[Clock]:
    """Give the clock of approvals for applications made from now on, in memory and in SQLite."""
    clock = Clock(time.time())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(open_ledger, "MemoryApprovals", partial(MemoryApprovals, clock=clock))
        patch.setattr(sql_ledger, "time", SimpleNamespace(time=clock, monotonic=time.monotonic))
        yield clock
