"""What becomes of calls that nobody waits for, where there is no room for them or for what their tools ask."""

from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

import pytest

from sidecall import ApprovalRequired, Registry, ToolAnnotations, tool
from sidecall.composition.local_pipeline import default_stages
from sidecall.features.approvals.memory_store import MemoryApprovals
from sidecall.features.contents.memory_store import MemoryContents
from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.jobs.sql_queue import SqlCallQueue
from sidecall.features.jobs.sql_store import SqlCalls
from sidecall.features.jobs.submission import JobLimits, Submission, entry_of
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.invocation import CallRequest, Invocation
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.core.overload import PartUnavailable, StoreUnavailable
from sidecall.kernel.core.sender import Sender
from sidecall.kernel.executors.base import InlineExecutor
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.pipeline.stage import FailurePlace, Place, Stage, Stages
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.database import Database
from tests.features.jobs.servers import Server, make_server

RAN: Counter[str] = Counter()
KEY = Submission(CallKey("key", "call", 9e9), waits=True)
HOW = pytest.mark.parametrize("how", [Submission(), KEY], ids=["nobody waits", "somebody waits"])


@tool
async def ask() -> str:
    """Ask a person."""
    RAN["ask"] += 1
    raise ApprovalRequired("Really?")


@tool(annotations=ToolAnnotations(idempotent=True))
async def ask_often() -> str:
    """Ask a person, of which no harm comes."""
    RAN["ask_often"] += 1
    raise ApprovalRequired("Really?")


@tool
async def pay() -> str:
    """Pay."""
    RAN["pay"] += 1
    return "paid"


@pytest.fixture(autouse=True)
def _forget() -> None:
    RAN.clear()


@pytest.fixture
async def server(database: Database) -> AsyncIterator[Server]:
    """Give a server."""
    made = make_server(database, (ask, ask_often))
    await made.jobs.open()
    yield made
    await made.jobs.close()


async def find_end(server: Server, entry: CallEntry) -> CallEntry:
    """Wait for the end of a call, past all other events."""
    while not entry.has_ended:
        with suppress(StoreUnavailable):
            entry = await server.jobs.wait(entry, 20)
    return entry


@HOW
async def test_a_tool_that_has_begun_does_not_begin_again_though_its_question_was_not_written_down(
    server: Server, how: Submission
) -> None:
    """It must not run twice; what it is told is what becomes of the call."""
    server.database.before["ask_approval"] = 1

    ended = await find_end(server, await server.submit("ask", how=how))

    assert (ended.status, ended.kind, RAN["ask"]) == ("failed", "overloaded", 1)


async def test_one_that_may_repeat_does(server: Server) -> None:
    """Once the store is back, it asks."""
    server.database.before["ask_approval"] = 1

    held = await server.wait_for_person(await server.submit("ask_often"))

    assert (held.status, RAN["ask_often"]) == ("awaiting_approval", 2)


def fail_behind(_invocation: Invocation) -> None:
    """Stand for a part of the way behind a tool that cannot be loaded."""
    raise PartUnavailable("It cannot be loaded.")


def fail_for_ann(invocation: Invocation) -> None:
    """Refuse a caller before the tool begins; five seconds later they come again."""
    if invocation.request.sender.caller.subject == "ann":
        raise PartUnavailable(retry_after=5)


async def make_jobs(database: Database, before: Sequence[Stage], behind: Sequence[Stage]) -> Jobs:
    """Begin the jobs of a server with more stages than usual, which runs one call at once."""
    approvals, registry = MemoryApprovals(), Registry([pay])
    ledger = Ledger(approvals, MemoryContents(), MemoryItems(), SqlCalls(database), SqlCallQueue(database), database)
    usual = default_stages({"inline": InlineExecutor()}, approvals)
    stages = Stages((*before, *usual.success, *behind), usual.failure)
    jobs = Jobs(ledger, Pipeline(registry, stages), registry.get, JobLimits(running=1))
    await jobs.open()
    return jobs


async def submit(jobs: Jobs, caller: str, how: Submission) -> CallEntry:
    """Have a call accepted."""
    return entry_of(
        await jobs.submit(CallRequest(ToolCall(name="pay", args={}, id="1"), Sender(caller=Caller(caller))), how)
    )


@HOW
async def test_a_tool_whose_answer_cannot_be_made_does_not_run_again(database: Database, how: Submission) -> None:
    """It has run to its end, and the answer has to say so."""
    jobs = await make_jobs(database, [], [Stage(FailurePlace.LOG, fail_behind)])

    ended = await jobs.wait(await submit(jobs, "bob", how), 20)
    await jobs.close()

    assert (ended.status, RAN["pay"]) == ("outcome_unknown", 1)
    assert ended.message is not None
    assert ended.message.content == (
        "Error: the answer of the call could not be made, so its outcome is unknown; it may have had effects."
    )
    assert ended.message.response_metadata["error"]["retryable"] is False


async def test_a_call_that_comes_again_later_holds_up_no_other_caller(database: Database) -> None:
    """It has no place of those that run while it waits for its next try."""
    jobs = await make_jobs(database, [Stage(Place.EXECUTE, fail_for_ann)], [])

    refused = await submit(jobs, "ann", Submission())
    other = await jobs.wait(await submit(jobs, "bob", Submission()), 20)
    meanwhile = await jobs.get(refused.id, "default")
    await jobs.close()

    assert (other.status, meanwhile.status, meanwhile.attempt) == ("succeeded", "running", 1)
