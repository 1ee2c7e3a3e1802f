"""An answer outlives its approval for those who have not heard of it."""

import pytest

from sidecall.core.errors import UnknownApproval
from tests.kit.ledgers import Clock, Place
from tests.ledger.test_approvals import APPROVE, DONE, Waiting


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
