"""What becomes of calls whose server ends while they run."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from sidecall import Registry, ToolAnnotations, tool
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.contents.memory_store import MemoryContents
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.jobs.sql_queue import SqlCallQueue
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.jobs.submission import JobLimits, Submission, entry_of
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.database import Database
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.faulty import FaultyDatabase
from tests.kit.pipelines import make_pipeline
from tests.kit.waiting import until

BEGUN: Counter[str] = Counter()
Serve = Callable[..., Jobs]


async def _begin(name: str) -> str:
    BEGUN[name] += 1
    if BEGUN[name] == 1:
        await asyncio.Event().wait()
    return f"{name}, begun {BEGUN[name]} times"


@tool(annotations=ToolAnnotations(idempotent=True))
async def repeat(name: str) -> str:
    """Begin, and end at the second time only.

    Args:
        name: Of the call.
    """
    return await _begin(name)


@tool
async def pay(name: str) -> str:
    """Do the same, though it must not run twice.

    Args:
        name: Of the call.
    """
    return await _begin(name)


@pytest.fixture(autouse=True)
def _forget() -> None:
    BEGUN.clear()


def make_jobs(database: Database, **limits: int) -> Jobs:
    """Make the jobs of one server."""
    ledger = Ledger(
        MemoryApprovals(), MemoryContents(), MemoryItems(), SqlCalls(database), SqlCallQueue(database), database
    )
    registry = Registry([repeat, pay])
    return Jobs(ledger, make_pipeline(registry), registry.get, JobLimits(**limits))


@pytest.fixture
async def serve(tmp_path: Path) -> AsyncIterator[Serve]:
    """Give a function that makes the jobs of one server; all of them have the same database."""
    database = SqliteDatabase(tmp_path / "ledger.db")
    await database.open()
    made: list[Jobs] = []

    def make(**limits: int) -> Jobs:
        made.append(make_jobs(database, **limits))
        return made[-1]

    yield make
    for jobs in made:
        await jobs.close()
    await database.close()


async def submit(jobs: Jobs, name: str, id: str) -> CallEntry:
    """Have a call accepted, and begun where there is room."""
    call = ToolCall(name=name, args={"name": id}, id=id)
    return entry_of(await jobs.submit(CallRequest(call), Submission()))


async def begin(jobs: Jobs, name: str, id: str) -> CallEntry:
    """Have a call begun."""
    entry = await submit(jobs, name, id)
    await until(lambda: BEGUN[id] > 0)
    return entry


async def test_a_call_that_may_run_twice_runs_again(serve: Serve) -> None:
    """When the next server starts."""
    dead, alive = serve(), serve()
    await dead.open()
    entry = await begin(dead, "repeat", "a")

    await alive.open()
    ended = await alive.wait(await alive.get(entry.id, "default"), 10)

    assert (ended.status, ended.attempt) == ("succeeded", 2)
    assert ended.message is not None
    assert ended.message.content == "a, begun 2 times"


async def test_a_call_that_must_not_run_twice_has_an_unknown_outcome(serve: Serve) -> None:
    """The model is told that it may have had effects."""
    dead, alive = serve(), serve()
    await dead.open()
    entry = await begin(dead, "pay", "a")

    await alive.open()
    ended = await alive.get(entry.id, "default")

    assert (ended.status, ended.kind, BEGUN["a"]) == ("outcome_unknown", "outcome_unknown", 1)
    assert ended.message is not None
    assert "its outcome is unknown" in str(ended.message.content)


async def test_only_the_last_attempt_is_heard(serve: Serve) -> None:
    """A server that was taken for dead and is not cannot change the answer."""
    slow, quick = serve(), serve()
    await slow.open()
    entry = await begin(slow, "repeat", "a")
    await quick.open()
    ended = await quick.wait(await quick.get(entry.id, "default"), 10)

    await slow.close()  # It breaks its call off, and would queue it again.
    after = await quick.get(entry.id, "default")

    assert (after.status, after.attempt, after.message) == ("succeeded", 2, ended.message)


async def test_what_was_queued_runs_after_a_restart(serve: Serve) -> None:
    """In the order in which it came."""
    dead, alive = serve(running=1), serve()
    await dead.open()
    await begin(dead, "pay", "a")
    queued = await submit(dead, "pay", "b")
    BEGUN["b"] = 1  # So that it ends when it is begun.

    await alive.open()
    ended = await alive.wait(queued, 10)

    assert (queued.status, ended.status) == ("queued", "succeeded")


async def test_a_server_that_ends_in_order_leaves_its_calls_to_the_next(serve: Serve) -> None:
    """Those that may run twice are queued again; the others have an unknown outcome."""
    ending, following = serve(), serve()
    await ending.open()
    calls = [await begin(ending, "repeat", "a"), await begin(ending, "pay", "b")]

    await ending.close()
    left = [(await following.get(call.id, "default")).status for call in calls]
    await following.open()
    ended = [(await following.wait(call, 10)).status for call in calls]

    assert left == ["queued", "outcome_unknown"]
    assert ended == ["succeeded", "outcome_unknown"]


async def test_a_call_that_ends_every_server_is_given_up(serve: Serve) -> None:
    """After so many attempts."""
    first, last = serve(attempts=1), serve(attempts=1)
    await first.open()
    entry = await begin(first, "repeat", "a")

    await last.open()
    ended = await last.get(entry.id, "default")

    assert (ended.status, ended.attempt) == ("outcome_unknown", 1)


async def test_a_server_that_starts_again_takes_calls(serve: Serve) -> None:
    """As an application does whose lifespan is entered twice."""
    jobs = serve()
    BEGUN["a"] = 1  # So that it ends when it is begun.
    for _ in range(2):
        await jobs.open()
        entry = await submit(jobs, "pay", "a")
        ended = await jobs.wait(entry, 10)
        await jobs.close()

        assert (entry.status, ended.status) == ("running", "succeeded")


async def test_what_is_left_is_taken_up_once_the_store_answers(tmp_path: Path) -> None:
    """A store that does not answer at the start is no reason not to start."""
    database = FaultyDatabase(SqliteDatabase(tmp_path / "ledger.db"))
    await database.open()
    dead, alive = make_jobs(database), make_jobs(database)
    await dead.open()
    entry = await begin(dead, "pay", "a")

    database.before["list_lost_calls"] = 1
    await alive.open()
    left = (await alive.get(entry.id, "default")).status
    ended = await alive.wait(await alive.get(entry.id, "default"), 10)
    for jobs in (dead, alive):
        await jobs.close()
    await database.close()

    assert (left, ended.status) == ("running", "outcome_unknown")
