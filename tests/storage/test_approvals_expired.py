"""An answer outlives its approval for those who have not heard of it."""

from datetime import UTC, datetime, timedelta

import pytest

from sidecall.features.approvals.stores import OrphanedDecision
from sidecall.kernel.core.errors import UnknownApproval
from sidecall.kernel.ports.approvals.approval import Preview
from tests.kit.ledgers import Clock, Place
from tests.storage.test_approvals import APPROVE, DONE, Waiting


async def test_an_answer_is_found_for_a_while_though_it_has_expired(ledger: Place, clock: Clock) -> None:
    """The call may be kept in another place, which has not heard of it yet."""
    approvals = ledger.approvals(10.0, 2, clock)
    waiting, forgotten = [(await Waiting(id=number).ask(approvals)).approval.id for number in ("1", "2")]
    before = await approvals.find_answered(waiting)
    await approvals.decide(waiting, APPROVE, "eve")
    clock.now += 20.0
    running = await approvals.find_answered(waiting)
    await approvals.answer(waiting, DONE)

    found = await approvals.find_answered(waiting)
    assert (before, running) == (None, None)
    assert found is not None
    assert (found.message, found.decided_by) == (DONE, "eve")
    assert (await approvals.list("default")).approvals == []
    with pytest.raises(UnknownApproval):
        await approvals.get(waiting)
    with pytest.raises(UnknownApproval):
        await approvals.find_answered(forgotten)


async def test_a_second_question_expires_as_if_it_were_the_first(ledger: Place, clock: Clock) -> None:
    """The tool may have run for long before it asked; what is asked once more without a word expires as it did."""
    approvals = ledger.approvals(10.0, 2, clock)
    again, back = [(await Waiting(id=number).ask(approvals)).approval for number in ("1", "2")]
    for waiting in (again, back):
        await approvals.decide(waiting.id, APPROVE, "eve")
    clock.now += 20.0

    asked = await approvals.reopen(again.id, Preview(description="And this?"))
    await approvals.reopen(back.id)
    clock.now += 9.0

    assert (await approvals.get(again.id)).approval == asked.approval
    assert timedelta(seconds=9) < asked.approval.expires_at - datetime.now(UTC) <= timedelta(seconds=10)
    assert (await approvals.find_answered(again.id)) is None
    with pytest.raises(UnknownApproval):
        await approvals.get(back.id)
    clock.now += 1.0
    with pytest.raises(UnknownApproval):
        await approvals.get(again.id)


async def test_a_call_that_had_begun_and_expires_in_the_middle_is_told_of_once(ledger: Place, clock: Clock) -> None:
    """Also where nobody listens yet; one that had not begun is forgotten without a word."""
    approvals = ledger.approvals(10.0, 3, clock)
    begun, early, _ = [(await Waiting(id=number).ask(approvals)).approval.id for number in ("1", "2", "3")]
    heard: list[OrphanedDecision] = []
    for one in (early, begun):
        await approvals.decide(one, APPROVE, "eve")
        await approvals.reopen(one, Preview(description="And this?", state={"step": 1}))
        clock.now += 5.0

    # The one that was decided later has five seconds left.
    await Waiting(id="4").ask(approvals)
    approvals.on_orphan(heard.append)
    clock.now += 5.0
    for number in ("5", "6"):
        await Waiting(id=number).ask(approvals)

    said = [(it.record.approval.id, it.has_expired, it.record.begun and it.record.begun.by) for it in heard]
    assert said == [(early, True, "eve"), (begun, True, "eve")]


async def test_a_call_that_comes_again_once_its_answer_has_expired_is_asked_about_anew(
    ledger: Place, clock: Clock
) -> None:
    """Though the answer is found still by those who have not heard of it; its bytes are free again."""
    approvals = ledger.approvals(10.0, 1, clock)
    first = (await Waiting().ask(approvals)).approval
    empty = await ledger.count_bytes()
    await approvals.decide(first.id, APPROVE, "eve")
    clock.now += 9.0
    await approvals.answer(first.id, DONE)
    kept = await approvals.find(Waiting().record())
    clock.now += 1.0

    gone = await approvals.find(Waiting().record())
    second = (await Waiting().ask(approvals)).approval

    assert kept is not None
    assert (kept.approval.id, gone) == (first.id, None)
    assert (second.status, second.id == first.id) == ("pending", False)
    assert await ledger.count_bytes() == empty
