"""A call that may run again, and of which nobody hears before its end, is written down once, with its end."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from sidecall import Registry, ToolAnnotations, tool
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
from sidecall.kernel.core.overload import Overloaded, StoreUnavailable
from sidecall.kernel.pipeline.admission import Admission, Limits
from sidecall.kernel.ports.call_entry import CallFilter
from sidecall.storage.sqlite.database import SqliteDatabase
from tests.kit.faulty import FaultyDatabase
from tests.kit.pipelines import make_pipeline

AGAIN = ToolAnnotations(idempotent=True)
RAN: Counter[str] = Counter()
GO: dict[str, asyncio.Event] = {}


@tool(annotations=AGAIN)
async def put(name: str) -> str:
    """Put.

    Args:
        name: What.
    """
    RAN[name] += 1
    return f"put {name}"


@tool(annotations=AGAIN)
async def put_slowly(name: str) -> str:
    """Put, once somebody says go.

    Args:
        name: What.
    """
    await GO[name].wait()
    return f"put {name}"


@tool(annotations=AGAIN, requires_approval=True)
async def put_if_allowed(name: str) -> str:
    """Put, where a person allows it.

    Args:
        name: What.
    """
    return f"put {name}"


@tool
async def add(name: str) -> str:
    """Add.

    Args:
        name: What.
    """
    RAN[name] += 1
    return f"added {name}"


@tool
async def add_slowly(name: str) -> str:
    """Add, once somebody says go.

    Args:
        name: What.
    """
    RAN[name] += 1
    await GO[name].wait()
    return f"added {name}"


class TellingDatabase(FaultyDatabase):
    """A database that tells what is written of calls."""

    def __init__(self) -> None:
        super().__init__(SqliteDatabase())
        self.written: list[str] = []

    async def write(self, statement: str, *values: object, size: int | None = None) -> tuple[object, ...] | None:
        """Carry out a statement, and note its name."""
        if statement.endswith("_call"):
            self.written.append(statement)
        return await super().write(statement, *values, size=size)


@pytest.fixture
async def database() -> AsyncIterator[TellingDatabase]:
    """Give an empty database."""
    RAN.clear()
    GO["a"] = asyncio.Event()
    made = TellingDatabase()
    await made.open()
    yield made
    await made.close()


async def open_jobs(database: TellingDatabase, limits: Limits | None = None, *, is_lasting: bool = True) -> Jobs:
    """Open the jobs of a server."""
    approvals = MemoryApprovals()
    ledger = Ledger(approvals, MemoryContents(), MemoryItems(), SqlCalls(database), SqlCallQueue(database), database)
    ledger.is_lasting = is_lasting
    registry = Registry([put, put_slowly, put_if_allowed, add, add_slowly])
    pipeline = make_pipeline(registry, approvals=approvals, admission=Admission(limits or Limits()))
    made = Jobs(ledger, pipeline, registry.get, JobLimits())
    await made.open()
    return made


@pytest.fixture
async def jobs(database: TellingDatabase) -> AsyncIterator[Jobs]:
    """Give the jobs of one server."""
    made = await open_jobs(database)
    yield made
    await made.close()


@pytest.fixture
async def passing(database: TellingDatabase) -> AsyncIterator[Jobs]:
    """Give the jobs of a server whose ledger ends with it."""
    made = await open_jobs(database, is_lasting=False)
    yield made
    await made.close()


def request(name: str) -> CallRequest:
    """Make a call."""
    return CallRequest(ToolCall(name=name, args={"name": "a"}, id="1"))


WAITING = Submission(hears_end=True)


@pytest.mark.parametrize(
    ("name", "how", "written"),
    [
        ("put", WAITING, ["record_call"]),
        ("add", WAITING, ["accept_call", "finish_call"]),
        ("put", Submission(), ["accept_call", "finish_call"]),
        ("put", Submission(CallKey("key", "call", 9e9), hears_end=True), ["accept_call", "finish_call"]),
        ("put", Submission(hears_end=True, callback_url="https://a.example"), ["accept_call", "finish_call"]),
        ("put", Submission(hears_end=True, replay_of="another"), ["accept_call", "finish_call"]),
    ],
)
async def test_a_call_is_written_down_as_often_as_it_has_to_be(
    jobs: Jobs, database: TellingDatabase, name: str, how: Submission, written: list[str]
) -> None:
    """Before it runs, where it must not run twice, is known by a key, or somebody is told that it was accepted.

    A client that waits is told of the end as it is found later, to the microsecond.
    """
    entry = await jobs.wait(entry_of(await jobs.submit(request(name), how)), 20)

    assert (entry.status, database.written) == ("succeeded", written)
    assert (await jobs.get(entry.id, entry.tenant), entry.attempt) == (entry, 1)
    assert entry.ended_at is not None


async def test_one_that_takes_its_time_is_written_down_meanwhile(jobs: Jobs, database: TellingDatabase) -> None:
    """So that it is found, and can be cancelled."""
    entry = entry_of(await jobs.submit(request("put_slowly"), WAITING))
    assert (entry.status, database.written) == ("running", ["accept_call"])
    other = entry_of(await jobs.submit(request("put_slowly"), WAITING))
    cancelled = await jobs.cancel(other.id, other.tenant)
    GO["a"].set()

    ended = await jobs.wait(entry, 20)

    assert (ended.status, cancelled.status) == ("succeeded", "cancelled")
    assert ended == await jobs.get(entry.id, entry.tenant)
    assert [call.status for call in (await jobs.list(CallFilter("default"), 10, None)).calls] == [
        "cancelled",
        "succeeded",
    ]


async def test_one_that_waits_for_a_person_is_written_down(jobs: Jobs, database: TellingDatabase) -> None:
    """As any other."""
    entry = entry_of(await jobs.submit(request("put_if_allowed"), WAITING))
    entry = await jobs.wait(entry, 20, lambda entry: entry.status == "awaiting_approval")

    assert entry.approval_id is not None
    assert database.written == ["accept_call", "hold_call"]


async def test_of_one_that_is_refused_nothing_is_written(database: TellingDatabase) -> None:
    """A client that waits is told why."""
    jobs = await open_jobs(database, Limits(concurrency=1, queue=0))
    slow = entry_of(await jobs.submit(request("put_slowly"), WAITING))

    with pytest.raises(Overloaded):
        await jobs.submit(request("put"), Submission(waits=True, hears_end=True))
    GO["a"].set()
    await jobs.wait(slow, 20)
    await jobs.close()

    assert database.written == ["accept_call", "finish_call"]
    assert RAN["a"] == 0


@pytest.mark.parametrize("is_carried_out", [True, False])
async def test_where_the_end_cannot_be_written_nobody_was_promised_anything(
    jobs: Jobs, database: TellingDatabase, is_carried_out: bool
) -> None:
    """A client that waits is told so, and the server goes on."""
    (database.after if is_carried_out else database.before)["record_call"] = 1
    with pytest.raises(StoreUnavailable):
        await jobs.submit(request("put"), WAITING)

    again = entry_of(await jobs.submit(request("put"), WAITING))

    assert (again.status, jobs.load.occupancy.busy) == ("succeeded", 0)
    assert len((await jobs.list(CallFilter("default"), 10, None)).calls) == 1 + is_carried_out


async def test_what_could_not_be_accepted_is_not_ended(jobs: Jobs, database: TellingDatabase) -> None:
    """Its client was told that it was not."""
    database.before["accept_call"] = 1
    with pytest.raises(StoreUnavailable):
        await jobs.submit(request("put_slowly"), WAITING)
    GO["a"].set()

    again = await jobs.wait(entry_of(await jobs.submit(request("put_slowly"), WAITING)), 20)

    assert again.status == "succeeded"
    assert database.written.count("finish_call") <= 1
    assert [call.id for call in (await jobs.list(CallFilter("default"), 10, None)).calls] == [again.id]


@pytest.mark.parametrize(
    ("name", "how", "written"),
    [
        ("add", WAITING, ["record_call"]),
        ("add", Submission(), ["accept_call", "finish_call"]),
        ("add", Submission(CallKey("key", "call", 9e9), hears_end=True), ["accept_call", "finish_call"]),
    ],
)
async def test_in_memory_any_call_is_written_once(
    passing: Jobs, database: TellingDatabase, name: str, how: Submission, written: list[str]
) -> None:
    """What is in memory ends with the call; where somebody can know of the call it is there before."""
    entry = await passing.wait(entry_of(await passing.submit(request(name), how)), 20)

    assert (entry.status, database.written, RAN["a"]) == ("succeeded", written, 1)
    assert (await passing.get(entry.id, entry.tenant), entry.attempt) == (entry, 1)


@pytest.mark.parametrize("is_carried_out", [True, False])
@pytest.mark.parametrize(("name", "statement"), [("add", "record_call"), ("add_slowly", "accept_call")])
async def test_a_call_that_has_run_and_may_not_again_is_written_later(
    passing: Jobs, database: TellingDatabase, name: str, statement: str, is_carried_out: bool
) -> None:
    """Its client would send it again."""
    (database.after if is_carried_out else database.before)[statement] = 1
    GO["a"].set()

    entry = await passing.wait(entry_of(await passing.submit(request(name), WAITING)), 20)

    assert (entry.status, RAN["a"], passing.load.occupancy.busy) == ("succeeded", 1, 0)
    assert [call.id for call in (await passing.list(CallFilter("default"), 10, None)).calls] == [entry.id]
