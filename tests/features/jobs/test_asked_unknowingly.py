"""A call whose question to a person was written down waits for them, though its server did not hear of that."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from sidecall import ApprovalRequired, tool
from sidecall.features.approvals.record import Decision
from sidecall.features.jobs.idempotency_keys import CallKey
from sidecall.features.jobs.submission import Submission
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.core.sender import allow_seconds
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
async def ask() -> str:
    """Ask a person."""
    RAN["ask"] += 1
    raise ApprovalRequired("Really?")


@pytest.fixture(autouse=True)
def _forget() -> None:
    RAN.clear()


@pytest.fixture
async def server(database: Database) -> AsyncIterator[Server]:
    """Give a server."""
    made = make_server(database, (pay, ask))
    await made.jobs.open()
    yield made
    await made.jobs.close()


async def require_waiting(server: Server, entry: CallEntry) -> None:
    """Require that a call waits for a person, and ends as they decide."""
    held = None
    async with asyncio.timeout(20):
        while held is None or held.status != "awaiting_approval":
            with suppress(StoreUnavailable):
                held = await server.wait_for_person(entry)
    [approval] = (await server.ledger.approvals.list("default")).approvals
    assert (approval.id, approval.status) == (held.approval_id, "pending")
    await server.decide(approval.id, Decision(decision="reject", reason="Not today."))
    ended = await server.jobs.wait(held, 20)
    assert (ended.status, ended.kind) == ("failed", "rejected")


KEY = Submission(CallKey("key", "call", 9e9), waits=True)


@pytest.mark.parametrize("name", ["pay", "ask"])
@pytest.mark.parametrize("how", [Submission(), KEY], ids=["nobody waits", "somebody waits"])
async def test_it_waits_though_the_store_broke_off(server: Server, name: str, how: Submission) -> None:
    """The client that waits for it may be told so; with its key it finds it."""
    server.database.after["ask_approval"] = 1

    await require_waiting(server, await server.submit(name, how=how))


async def ask_until_it_is_late(server: Server, name: str) -> CallEntry:
    """Send a call that asks in time, and hold that up until its deadline has passed; where it is late, send another."""
    gate = server.database.shut("ask_approval")
    for seconds in (0.05, 0.5, 5.0, 50.0):
        deadline = allow_seconds(seconds)
        entry = await server.submit(name, deadline)
        asked = asyncio.ensure_future(server.database.meet("ask_approval"))
        ended = asyncio.ensure_future(server.jobs.wait(entry, 60))
        await asyncio.wait([asked, ended], return_when=asyncio.FIRST_COMPLETED)
        if asked.done():
            ended.cancel()
            break
        asked.cancel()
    await until(lambda: deadline.is_past, 60)
    gate.set()
    return entry


@pytest.mark.parametrize("name", ["pay", "ask"])
async def test_it_waits_though_its_deadline_has_passed_meanwhile(server: Server, name: str) -> None:
    """It does not end while somebody may still approve it."""
    server.database.after["ask_approval"] = 1

    await require_waiting(server, await ask_until_it_is_late(server, name))


async def test_one_of_which_nothing_was_written_down_ends_at_its_deadline(server: Server) -> None:
    """Nobody was asked."""
    server.database.before["ask_approval"] = 1
    entry = await ask_until_it_is_late(server, "pay")

    ended = await server.jobs.wait(entry, 20)

    assert (ended.status, ended.kind, RAN["pay"]) == ("failed", "overloaded", 0)
    assert (await server.ledger.approvals.list("default")).approvals == []


async def close_at(gate: asyncio.Event, server: Server) -> None:
    """End a server whose call waits at a gate, and open that once it takes no more."""
    closing = asyncio.ensure_future(server.jobs.close())
    for _ in range(5):
        await asyncio.sleep(0)
    gate.set()
    await closing


@pytest.mark.parametrize("name", ["pay", "ask"])
@pytest.mark.parametrize("fault", ["before hold_call", "after ask_approval"])
async def test_it_waits_though_its_server_ended_just_then(
    server: Server, database: Database, name: str, fault: str
) -> None:
    """It must not run twice, and has not: nothing of it has an unknown outcome."""
    if database.dialect == "postgres":
        pytest.skip("another server looks for lost calls only after ten seconds")
    when, statement = fault.split()
    (server.database.before if when == "before" else server.database.after)[statement] = 1
    gate = server.database.shut(statement)
    entry = await server.submit(name)
    await server.database.meet(statement)
    await close_at(gate, server)

    another = make_server(database, (pay, ask))
    await another.jobs.open()
    try:
        await require_waiting(another, entry)
    finally:
        await another.jobs.close()
    assert ({"ask": 1} if name == "ask" else {}) == RAN


async def test_it_is_cancelled_though_its_server_ended_just_then(server: Server, database: Database) -> None:
    """As somebody has wanted who asked another one."""
    if database.dialect == "postgres":
        pytest.skip("another server looks for lost calls only after ten seconds")
    server.database.before["hold_call"] = 1
    gate = server.database.shut("hold_call")
    entry = await server.submit("pay")
    await server.database.meet("hold_call")
    await database.write("ask_to_cancel", entry.id)
    await close_at(gate, server)

    another = make_server(database, (pay, ask))
    await another.jobs.open()
    ended = await another.jobs.wait(entry, 20)
    await another.jobs.close()

    assert ended.status == "cancelled"
    assert [approval.status for approval in (await another.ledger.approvals.list("default")).approvals] == ["cancelled"]
