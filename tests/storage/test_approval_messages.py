"""What becomes of approvals is noted with them, for each receiver, in each database."""

import time
from typing import Any

import pytest

from sidecall import ToolCall
from sidecall.features.approval_webhooks.notifier import KNOWN_FOR, ApprovalMessage, SqlApprovalMessages
from sidecall.features.approvals.record import ApprovalRecord, Decision, Withdrawal
from sidecall.features.approvals.sql_store import SqlApprovals
from sidecall.features.jobs.call_record import CallRecord
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.ports.approvals.approval import NO_PREVIEW, Preview
from tests.kit.ledgers import InDatabase, Place

APPROVE, REJECT = Decision(decision="approve"), Decision(decision="reject", reason="No.")
REQUESTED, EXPIRING, DECIDED = "approval.requested", "approval.expiring", "approval.decided"
TTL, NOTICE = 1000.0, 100.0
LATER = time.time() + 1_000_000.0
pytestmark = pytest.mark.parametrize("lasting", ["sqlite", "postgres"], indirect=True)


class Desk:
    """Approvals, and the messages about them for two receivers."""

    def __init__(self, place: Place) -> None:
        assert isinstance(place, InDatabase)
        self.database = place.database
        self.approvals = SqlApprovals(place.database, "me", TTL)
        self.messages = SqlApprovalMessages(place.database, ["a", "b"])

    async def ask(self, id: str = "call_1", preview: Preview = NO_PREVIEW, **args: Any) -> ApprovalRecord:
        """Have a call wait."""
        call = ToolCall(name="pay", args=args, id=id)
        return await self.approvals.ask(CallRecord.of(CallRequest(call), "invocation"), call, preview)

    async def wait(self, receiver: str = "a", now: float = LATER) -> list[ApprovalMessage]:
        """List all that waits for a receiver."""
        return [*await SqlApprovalMessages(self.database, [receiver]).list_due(now, 100, 100)]

    async def read(self, receiver: str = "a") -> list[str]:
        """Claim all that waits for a receiver, and return the events in their order."""
        claimed = [await self.messages.claim(due, 1.0) for due in await self.wait(receiver)]
        return [one.event for one in sorted(filter(None, claimed), key=lambda one: one.number)]


@pytest.fixture
async def desk(ledger: Place) -> Desk:
    """Tell both receivers."""
    desk = Desk(ledger)
    assert await desk.messages.keep_receivers(NOTICE, 100, time.time())
    return desk


async def test_each_receiver_has_a_message_at_once_and_one_before_the_expiry(desk: Desk) -> None:
    """The second is not due yet; the same call again has no others."""
    asked = await desk.ask(text="a \x00 b")
    await desk.ask(text="a \x00 b")

    for receiver in ("a", "b"):
        [first] = await desk.wait(receiver, time.time() + TTL - NOTICE - 60)
        [_, second] = await desk.wait(receiver)
        told = await desk.messages.claim(first, 1.0)
        assert told is not None
        assert (told.approval_id, told.event, told.status, told.tries) == (asked.approval.id, REQUESTED, "pending", 1)
        assert '"text":"a \\u0000 b"' in (told.listed or "")
        assert abs(told.happened_at - time.time()) < 60
        assert abs(second.at - (time.time() + TTL - NOTICE)) < 60


async def test_one_that_waits_shortly_is_told_of_at_half_of_the_time(ledger: Place) -> None:
    """However long before the expiry that is to be."""
    desk = Desk(ledger)
    await desk.messages.keep_receivers(10 * TTL, 100, time.time())
    await desk.ask()

    [_, second] = await desk.wait()
    assert abs(second.at - (time.time() + TTL / 2)) < 60


@pytest.mark.parametrize(
    ("decision", "status"),
    [(APPROVE, "approved"), (REJECT, "rejected"), (Withdrawal(reason="Cancelled."), "cancelled")],
)
async def test_a_decision_takes_the_place_of_the_expiry(desk: Desk, decision: Decision, status: str) -> None:
    """It says what was decided, by whom and why; the answer later is no news."""
    asked = (await desk.ask()).approval.id
    await desk.approvals.decide(asked, decision, "ada")
    await desk.approvals.answer(asked, ToolMessage(content="done"))

    _, last = await desk.wait()
    told = await desk.messages.claim(last, 1.0)
    assert told is not None
    assert (told.event, told.status) == (DECIDED, status)
    assert f'"status":"{status}"' in (told.listed or "")
    assert '"decided_by":"ada"' in (told.listed or "")
    assert await desk.read() == [REQUESTED, DECIDED]


async def test_what_was_tried_is_told_in_any_case(desk: Desk) -> None:
    """A receiver that was away when an approval was about to expire hears it after the decision."""
    asked = (await desk.ask()).approval.id
    for due in await desk.wait():
        claimed = await desk.messages.claim(due, 1.0)
        assert claimed is not None
        await desk.messages.settle(claimed, 2.0)
    await desk.approvals.decide(asked, APPROVE, "ada")

    assert await desk.read() == [REQUESTED, EXPIRING, DECIDED]
    assert await desk.read("b") == [REQUESTED, DECIDED]


@pytest.mark.parametrize("preview", [None, Preview(description="And this?")])
async def test_one_that_waits_again_is_told_of_again(desk: Desk, preview: Preview | None) -> None:
    """Its decision could not be carried out, or its tool asks something else."""
    asked = (await desk.ask()).approval.id
    await desk.approvals.decide(asked, APPROVE, "ada")
    await desk.approvals.reopen(asked, preview)

    assert await desk.read() == [REQUESTED, DECIDED, REQUESTED, EXPIRING]


async def test_one_that_expires_leaves_what_was_noted(ledger: Place) -> None:
    """Nobody has decided, and its receivers have to learn that somebody was to."""
    desk = Desk(ledger)
    await desk.messages.keep_receivers(NOTICE, 100, time.time())
    desk.approvals = SqlApprovals(desk.database, "me", -1.0)
    await desk.ask()
    await desk.approvals.forget()

    assert await desk.read() == [REQUESTED, EXPIRING]


async def test_nothing_is_noted_where_nobody_is_told(ledger: Place) -> None:
    """As on most servers; nor for those whom no server has told for long, of whom nothing is left."""
    desk = Desk(ledger)
    await desk.ask("call_1")
    assert await desk.wait() == []
    await desk.messages.keep_receivers(NOTICE, 100, time.time())
    await desk.ask("call_2")
    assert len(await desk.wait()) == 2

    await SqlApprovalMessages(desk.database, ["a"]).keep_receivers(NOTICE, 100, time.time() - KNOWN_FOR - 1)
    await desk.ask("call_3")
    assert (await desk.wait("a"), len(await desk.wait("b"))) == ([], 4)


async def test_there_is_an_end_to_what_waits(ledger: Place) -> None:
    """Each receiver has its own, and the server learns that it is reached."""
    desk = Desk(ledger)
    assert await desk.messages.keep_receivers(NOTICE, 4, time.time())
    for number in range(4):
        await desk.ask(f"call_{number}")

    assert len(await desk.wait()) in (4, 5)  # Both messages of one question may come together.
    assert not await desk.messages.keep_receivers(NOTICE, 4, time.time())


async def test_long_texts_are_not_kept_twice(desk: Desk) -> None:
    """Of such an approval the message has its id and status."""
    await desk.ask(preview=Preview(description="x" * 70_000))

    told = [await desk.messages.claim(due, 1.0) for due in await desk.wait()]
    assert [(one.listed, one.status) for one in told if one is not None] == [(None, "pending")] * 2


async def test_one_server_gets_each(desk: Desk) -> None:
    """And what it settles is gone, or due later, unless another server has it meanwhile."""
    await desk.ask()
    first, second = await desk.wait()
    claimed, again = await desk.messages.claim(first, 50.0), await desk.messages.claim(second, 60.0)
    assert claimed is not None
    assert again is not None
    assert await desk.messages.claim(first, 51.0) is None

    await desk.messages.settle(claimed, 70.0)
    await desk.messages.settle(claimed, None)
    await desk.messages.settle(again, None)

    assert [(due.at, due.tries) for due in await desk.wait()] == [(70.0, 1)]
