"""Those about which nobody has decided in time stand in lists for a while, and nowhere else."""

import pytest

from sidecall import ToolMessage
from sidecall.features.approvals.record import Decision
from sidecall.kernel.core.errors import UnknownApproval
from tests.kit.ledgers import Place
from tests.storage.test_approvals_bytes import LONG, Desk

APPROVE = Decision(decision="approve")
HOUR = 3600.0


async def _statuses(desk: Desk, **options: object) -> list[tuple[str, str]]:
    page = await desk.approvals.list("default", **options)  # type: ignore[arg-type]
    return [(approval.tool_call.id, approval.status) for approval in page.approvals]


async def test_they_are_listed_for_an_hour(ledger: Place) -> None:
    """Beside the others, and alone where they are asked for."""
    desk = Desk(ledger, 1_000_000)
    await desk.ask("ran out")
    decided = (await desk.ask("decided")).approval
    await desk.approvals.decide(decided.id, APPROVE, "eve")
    await desk.approvals.answer(decided.id, ToolMessage(content="done"))
    desk.now = 10.0
    await desk.ask("waits")

    assert await _statuses(desk, with_expired=True) == [("ran out", "expired"), ("waits", "pending")]
    assert await _statuses(desk, status="expired") == [("ran out", "expired")]
    assert await _statuses(desk, status="pending") == [("waits", "pending")]
    assert await _statuses(desk) == [("waits", "pending")]
    desk.now = 10.0 + HOUR
    assert await _statuses(desk, with_expired=True) == [("waits", "expired")]
    assert await _statuses(desk, status="expired") == [("waits", "expired")]


async def test_nobody_decides_about_them(ledger: Place) -> None:
    """They are found in lists only, and the same call is asked about anew."""
    desk = Desk(ledger, 1_000_000)
    first = (await desk.ask("1")).approval
    desk.now = 10.0
    again = (await desk.ask("1")).approval

    with pytest.raises(UnknownApproval):
        await desk.approvals.get(first.id)
    with pytest.raises(UnknownApproval):
        await desk.approvals.find_answered(first.id)
    with pytest.raises(UnknownApproval):
        await desk.approvals.decide(first.id, APPROVE, "eve")
    assert again.id != first.id
    assert await _statuses(desk, with_expired=True) == [("1", "expired"), ("1", "pending")]


async def test_they_take_no_bytes_and_no_places(ledger: Place) -> None:
    """As many are shown as may wait."""
    desk = Desk(ledger, 70_000)
    desk.approvals = ledger.approvals(10.0, 2, lambda: desk.now, 70_000)
    for number in range(4):
        await desk.ask(f"{number} a", text=LONG)
        await desk.ask(f"{number} b", text=LONG)
        desk.now += 10.0
    await desk.ask("waits", text=LONG)

    assert 20_000 < await desk.taken() < 26_000
    shown = await _statuses(desk, with_expired=True)
    assert shown[-1] == ("waits", "pending")
    assert {status for _, status in shown[:-1]} == {"expired"}
    assert len(shown) <= 5


async def test_one_that_runs_when_it_should_expire_does_not(ledger: Place) -> None:
    """It ends with its answer."""
    desk = Desk(ledger, 1_000_000)
    running = (await desk.ask("runs")).approval
    await desk.approvals.decide(running.id, APPROVE, "eve")
    desk.now = 11.0

    assert await _statuses(desk, with_expired=True) == [("runs", "approved")]
