"""A cancelled call stays cancelled, though it was just about to wait for a person."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator

import pytest

from sidecall import ToolAnnotations, tool
from sidecall.features.approvals.record import Decision
from sidecall.features.jobs.call_record import CallRecord
from sidecall.features.jobs.records import Acceptance
from sidecall.features.jobs.state_machine import SuspendedCalls
from sidecall.features.jobs.waiters import CompletionWaiters
from sidecall.kernel.core.errors import ApprovalConflict
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolCall
from sidecall.kernel.pipeline.admission import Limits
from sidecall.kernel.ports.approvals.approval import ApprovalWanted
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.database import Database
from tests.features.jobs.servers import Server, make_server
from tests.kit.waiting import until

RAN: Counter[str] = Counter()


@tool(requires_approval=True)
async def pay() -> str:
    """Pay."""
    RAN["pay"] += 1
    return "paid"


@tool
async def ask_for_another() -> str:
    """Ask about a call of a tool of its own."""
    raise ApprovalWanted(ToolCall(name="wire", args={}, id="inner"))


@tool(annotations=ToolAnnotations(idempotent=True))
async def repeat() -> str:
    """Wait for ever."""
    RAN["repeat"] += 1
    return await asyncio.Event().wait() and ""


TOOLS = (pay, ask_for_another, repeat)


@pytest.fixture(autouse=True)
def _forget() -> None:
    RAN.clear()


@pytest.fixture
async def server(database: Database) -> AsyncIterator[Server]:
    """Give a server."""
    made = make_server(database, TOOLS)
    await made.jobs.open()
    yield made
    await made.jobs.close()


@pytest.fixture
async def another(database: Database, server: Server) -> AsyncIterator[Server]:
    """Give one more on the same database, where several may be."""
    if database.dialect == "sqlite":
        pytest.skip("one process has it to itself")
    made = make_server(database, TOOLS)
    await made.jobs.open()
    yield made
    await made.jobs.close()


async def require_cancelled(server: Server, entry: CallEntry) -> None:
    """Require that a call has ended, and nobody can approve it."""
    ended = await server.jobs.wait(entry, 20)
    assert ended.status == "cancelled"
    for approval in (await server.ledger.approvals.list("default")).approvals:
        assert approval.status == "cancelled"
        with pytest.raises(ApprovalConflict):
            await server.ledger.approvals.decide(approval.id, Decision(decision="approve"), "eve")
    assert RAN["pay"] == 0


@pytest.mark.parametrize(
    ("name", "statement"), [("pay", "ask_approval"), ("pay", "hold_call"), ("ask_for_another", "ask_approval")]
)
async def test_a_call_is_cancelled_that_is_about_to_wait(server: Server, name: str, statement: str) -> None:
    """At each step of writing that down."""
    gate = server.database.shut(statement)
    entry = await server.submit(name)
    await server.database.meet(statement)

    assert (await server.cancel_at(gate, entry, "ada")).status == "cancelled"
    await require_cancelled(server, entry)
    [approval] = (await server.ledger.approvals.list("default")).approvals
    assert (approval.status, approval.decided_by) == ("cancelled", "ada")


async def test_what_could_not_be_asked_is_cancelled_all_the_same(server: Server) -> None:
    """Nobody is asked then."""
    server.database.before["ask_approval"] = 1
    gate = server.database.shut("ask_approval")
    entry = await server.submit("pay")
    await server.database.meet("ask_approval")

    assert (await server.cancel_at(gate, entry)).status == "cancelled"
    assert (await server.ledger.approvals.list("default")).approvals == []


@pytest.mark.parametrize("statement", ["ask_approval", "hold_call"])
async def test_another_server_cancels_it(server: Server, another: Server, statement: str) -> None:
    """Its own learns of that when it writes down that the call waits."""
    gate = server.database.shut(statement)
    entry = await server.submit("pay")
    await server.database.meet(statement)

    cancelling = asyncio.ensure_future(another.jobs.cancel(entry.id, "default"))
    await until(lambda: another.database.done["ask_to_cancel"] > 0)
    gate.set()
    await cancelling

    await require_cancelled(another, entry)


async def test_another_server_sees_that_it_waits_only_when_it_asks(server: Server, another: Server) -> None:
    """It cancels it itself then."""
    gate = server.database.shut("hold_call")
    entry = await server.submit("pay")
    await server.database.meet("hold_call")
    asking = another.database.shut("ask_to_cancel")

    cancelling = asyncio.ensure_future(another.jobs.cancel(entry.id, "default"))
    await another.database.meet("ask_to_cancel")
    gate.set()
    await server.wait_for_person(entry)
    asking.set()

    assert (await cancelling).status == "cancelled"
    await require_cancelled(another, entry)


async def test_of_two_who_cancel_one_waits_for_the_other(server: Server) -> None:
    """Both hear the same."""
    entry = await server.wait_for_person(await server.submit("pay"))
    gate = server.database.shut("change_approval")

    both = [asyncio.ensure_future(server.jobs.cancel(entry.id, "default")) for _ in range(2)]
    await until(lambda: server.database.came["change_approval"] == 2)
    gate.set()

    assert [one.status for one in await asyncio.gather(*both)] == ["cancelled", "cancelled"]


async def test_a_wish_outlives_the_server_that_was_to_follow_it(server: Server, database: Database) -> None:
    """One that ended when it had just written down that the call waits."""
    gate = server.database.shut("hold_call")
    entry = await server.submit("pay")
    await server.database.meet("hold_call")
    [approval] = (await server.ledger.approvals.list("default")).approvals
    await database.write("ask_to_cancel", entry.id)
    await database.write("hold_call", entry.id, 1, approval.id)

    await SuspendedCalls(server.ledger, lambda _: None, CompletionWaiters()).settle_all()

    await require_cancelled(server, entry)
    gate.set()


async def test_a_call_is_cancelled_that_is_queued_again(database: Database) -> None:
    """There was no room to run it."""
    server = make_server(database, TOOLS, Limits(concurrency=1, queue=0))
    await server.jobs.open()
    try:
        running = await server.submit("repeat")
        await until(lambda: RAN["repeat"] > 0)
        gate = server.database.shut("release_call")
        entry = await server.submit("pay")
        await server.database.meet("release_call")

        assert (await server.cancel_at(gate, entry)).status == "cancelled"
        assert (await server.jobs.cancel(running.id, "default")).status == "cancelled"
    finally:
        await server.jobs.close()


async def test_a_call_is_cancelled_whose_server_lets_it_go(server: Server, another: Server) -> None:
    """It ends before it has looked who wants what; it was asked by another, which does not run the call."""
    server.database.shut_behind("list_unwanted_calls")
    entry = await server.submit("repeat")
    await until(lambda: RAN["repeat"] > 0)
    cancelling = asyncio.ensure_future(another.jobs.cancel(entry.id, "default"))
    await until(lambda: another.database.done["ask_to_cancel"] > 0)
    await server.jobs.close()

    assert (await cancelling).status == "cancelled"
    await require_cancelled(another, entry)
    assert RAN["repeat"] == 1


async def test_a_call_is_cancelled_whose_server_has_died(server: Server, database: Database) -> None:
    """A server that takes it up does not run it."""
    await server.jobs.close()
    request = CallRequest(ToolCall(name="repeat", args={}, id="1"))
    # Where several servers may be, one that runs calls has to be silent for a while first.
    left = ("queued",) if server.ledger.is_shared else ("queued", "running")
    for call_id in left:
        await server.ledger.calls.accept(CallRecord.of(request, call_id), Acceptance(owner="gone"))
        await database.write("ask_to_cancel", call_id)
    await database.write("release_call", "queued", 1)

    await server.jobs.open()

    for call_id in left:
        await require_cancelled(server, await server.jobs.get(call_id, "default"))
    assert RAN["repeat"] == 0
