"""A decision that was written down is carried out once, though its author was told that it may not have been."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import suppress

import pytest

from sidecall import ToolContext, tool
from sidecall.features.approvals.record import Decision
from sidecall.features.audit.stores import AuditFilter
from sidecall.kernel.core.errors import ApprovalConflict
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.ports.approvals.approval import ApprovalRequired
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.storage.database import Database
from tests.features.jobs.servers import Server, make_server

RAN: Counter[str] = Counter()
APPROVE, REJECT = Decision(decision="approve"), Decision(decision="reject", reason="No.")


@tool(requires_approval=True)
async def pay(amount: int = 1) -> str:
    """Pay.

    Args:
        amount: How much.
    """
    RAN[f"pay {amount}"] += 1
    return f"paid {amount}"


@tool
async def tidy(context: ToolContext) -> str:
    """Tidy up, after it has asked in the middle."""
    RAN["tidy"] += 1
    if context.resumed is None:
        raise ApprovalRequired("All of it?", state="half")
    return "tidied" if context.rejection is None else "told no"


@pytest.fixture(autouse=True)
def _forget() -> None:
    RAN.clear()


@pytest.fixture
async def server(database: Database) -> AsyncIterator[Server]:
    """Give a server."""
    made = make_server(database, [pay, tidy])
    await made.jobs.open()
    yield made
    await made.jobs.close()


async def begin_to_wait(server: Server, name: str = "pay") -> tuple[CallEntry, str]:
    """Have a call wait for a person."""
    entry = await server.wait_for_person(await server.submit(name))
    assert entry.approval_id is not None
    return entry, entry.approval_id


async def content(server: Server, entry: CallEntry) -> tuple[str, object]:
    """Return how a call has ended, and with which answer."""
    ended = await server.jobs.wait(entry, 20)
    return ended.status, None if ended.message is None else ended.message.content


async def test_a_tool_is_told_what_was_decided_about_its_question(server: Server) -> None:
    """Also where the store broke off as that was written down: it runs once more, and goes on without it."""
    entry, approval_id = await begin_to_wait(server, "tidy")
    server.database.after["change_approval"] = 1

    with pytest.raises(StoreUnavailable):
        await server.decide(approval_id, REJECT)

    assert await content(server, entry) == ("succeeded", "told no")
    assert RAN == {"tidy": 2}


@pytest.mark.parametrize(
    ("decision", "end", "runs"),
    [
        (APPROVE, ("succeeded", "paid 1"), {"pay 1": 1}),
        (Decision(decision="approve", args={"amount": 2}), ("succeeded", "paid 2"), {"pay 2": 1}),
        (REJECT, ("failed", "No."), {}),
    ],
)
async def test_a_decision_is_carried_out_that_was_written_down(
    server: Server, decision: Decision, end: tuple[str, str], runs: dict[str, int]
) -> None:
    """A second decision is answered with the first, and who made that is written down."""
    entry, approval_id = await begin_to_wait(server)
    server.database.after["change_approval"] = 1

    with pytest.raises(StoreUnavailable):
        await server.decide(approval_id, decision)
    with pytest.raises(ApprovalConflict):
        await server.decide(approval_id, decision)

    assert (await content(server, entry), RAN) == (end, runs)
    audit = await server.ledger.audit.list(AuditFilter("default"))
    assert [(it.action, it.by, it.target) for it in audit.entries] == [
        ("approved" if runs else "rejected", "eve", approval_id)
    ]


async def test_a_decision_that_was_not_written_down_is_made_again(server: Server) -> None:
    """And is not carried out a second time once the first has been looked for."""
    entry, approval_id = await begin_to_wait(server)
    server.database.before["change_approval"] = 1

    with pytest.raises(StoreUnavailable):
        await server.decide(approval_id, APPROVE)
    await server.decide(approval_id, APPROVE)

    assert await content(server, entry) == ("succeeded", "paid 1")
    await asyncio.sleep(1.5)
    assert RAN == {"pay 1": 1}


async def test_a_call_ends_whose_cancel_broke_off(server: Server) -> None:
    """Nobody can approve it any more."""
    entry, _ = await begin_to_wait(server)
    server.database.after["change_approval"] = 1

    with pytest.raises(StoreUnavailable):
        await server.jobs.cancel(entry.id, "default", "ada")
    with suppress(StoreUnavailable):
        await server.jobs.cancel(entry.id, "default", "ada")

    assert (await content(server, entry))[0] in ("failed", "cancelled")
    assert RAN == {}


async def test_a_decision_for_later_calls_too_is_made_anew(server: Server) -> None:
    """How long it was to hold is not kept."""
    entry, approval_id = await begin_to_wait(server)
    server.database.after["change_approval"] = 1

    with pytest.raises(StoreUnavailable):
        await server.decide(approval_id, Decision(decision="approve", always=True, expires_in=60))
    async with asyncio.timeout(20):
        while (await server.ledger.approvals.get(approval_id)).approval.status != "pending":  # noqa: ASYNC110
            await asyncio.sleep(0.05)
    await server.decide(approval_id, APPROVE)

    assert await content(server, entry) == ("succeeded", "paid 1")
    assert RAN == {"pay 1": 1}
