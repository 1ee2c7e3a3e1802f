"""What becomes of calls whose store breaks off at the worst moment."""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from sidecall import Registry, tool
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.contents.memory_store import MemoryContents
from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.jobs.sql_queue import SqlCallQueue
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.jobs.submission import JobLimits, Submission, entry_of
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.call_entry import CallFilter
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.faulty import FaultyDatabase
from tests.kit.pipelines import make_pipeline

RAN: Counter[str] = Counter()


@tool
async def add(name: str) -> str:
    """Add.

    Args:
        name: What.
    """
    RAN[name] += 1
    return f"added {name}"


@tool(requires_approval=True)
async def pay(name: str) -> str:
    """Pay.

    Args:
        name: What.
    """
    return f"paid {name}"


@pytest.fixture
async def database() -> AsyncIterator[FaultyDatabase]:
    """Give a database that works so far."""
    RAN.clear()
    made = FaultyDatabase(SqliteDatabase())
    await made.open()
    yield made
    await made.close()


@pytest.fixture
async def jobs(database: FaultyDatabase) -> AsyncIterator[Jobs]:
    """Give the jobs of one server, which runs one at a time."""
    approvals = MemoryApprovals()
    ledger = Ledger(approvals, MemoryContents(), MemoryItems(), SqlCalls(database), SqlCallQueue(database), database)
    registry = Registry([add, pay])
    made = Jobs(ledger, make_pipeline(registry, approvals=approvals), registry.get, JobLimits(running=1))
    await made.open()
    yield made
    await made.close()


def request(name: str) -> CallRequest:
    """Make a call."""
    return CallRequest(ToolCall(name=name, args={"name": "a"}, id="1"))


KEY = Submission(CallKey("key", "call", 9e9))


@pytest.mark.parametrize("statement", ["accept_call", "finish_call"])
@pytest.mark.parametrize("is_carried_out", [True, False])
async def test_a_call_runs_once_though_nobody_knows_what_was_written(
    jobs: Jobs, database: FaultyDatabase, statement: str, is_carried_out: bool
) -> None:
    """A client that sends it again with its key gets the answer."""
    (database.after if is_carried_out else database.before)[statement] = 1

    ended = None
    while ended is None:
        with suppress(StoreUnavailable):
            ended = await jobs.wait(entry_of(await jobs.submit(request("add"), KEY)), 20)

    assert (ended.status, RAN["a"]) == ("succeeded", 1)


@pytest.mark.parametrize("fault", ["before claim_call", "after claim_call", "before get_call"])
async def test_a_queued_call_runs_once_though_it_could_not_be_begun(
    jobs: Jobs, database: FaultyDatabase, fault: str
) -> None:
    """As soon as the store can be used."""
    when, statement = fault.split()
    (database.after if when == "after" else database.before)[statement] = 1
    first = entry_of(await jobs.submit(request("add"), Submission()))
    queued = entry_of(await jobs.submit(request("add"), Submission()))
    assert (first.status, queued.status) == ("running", "queued")

    while len((await jobs.list(CallFilter("default", status="succeeded"), 10, None)).calls) < 2:
        with suppress(StoreUnavailable):
            await jobs.wait(queued, 5)

    assert RAN["a"] == 2


@pytest.mark.parametrize("is_carried_out", [True, False])
async def test_a_call_waits_for_a_person_though_that_could_not_be_written_down(
    jobs: Jobs, database: FaultyDatabase, is_carried_out: bool
) -> None:
    """It is written down later."""
    (database.after if is_carried_out else database.before)["hold_call"] = 1
    entry = entry_of(await jobs.submit(request("pay"), KEY))
    while entry.status != "awaiting_approval":
        with suppress(StoreUnavailable):
            entry = await jobs.wait(entry, 20, lambda entry: entry.status == "awaiting_approval")

    assert entry.approval_id is not None
