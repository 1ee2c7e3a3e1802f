"""Approvals are listed by tenant."""

from sidecall import Caller
from sidecall.features.approvals.record import Decision
from tests.kit.ledgers import Clock, Place
from tests.storage.test_approvals import Waiting


async def test_what_waits_is_counted_of_all_tenants(ledger: Place, clock: Clock) -> None:
    """Neither what is decided nor what has expired."""
    approvals = ledger.approvals(60, 10, clock)
    before = await approvals.count_waiting()
    for number, tenant in enumerate(("acme", "zeta", "acme")):
        kept = await Waiting(id=f"call_{number}", caller=Caller("ann", tenant)).ask(approvals)
        clock.now += 10
    three = await approvals.count_waiting()
    await approvals.decide(kept.approval.id, Decision(decision="reject"), "bob")
    two = await approvals.count_waiting()
    clock.now += 35  # The first has expired.
    one = await approvals.count_waiting()

    assert (before.waiting, before.next_expires_at) == (0, None)
    assert [it.waiting for it in (three, two, one)] == [3, 2, 1]
    assert three.next_expires_at is not None
    assert one.next_expires_at is not None


async def test_each_tenant_lists_its_own(ledger: Place, clock: Clock) -> None:
    """In pages as long as it wants, no matter what stands in between."""
    approvals = ledger.approvals(60, 10, clock)
    ids: dict[str, list[str]] = {"acme": [], "zeta": []}
    for number in range(6):
        tenant = "acme" if number % 2 else "zeta"
        kept = await Waiting(id=f"call_{number}", caller=Caller("ann", tenant)).ask(approvals)
        ids[tenant].append(kept.approval.id)

    first = await approvals.list("acme", limit=2)
    rest = await approvals.list("acme", "pending", limit=2, cursor=first.cursor)

    assert [approval.id for approval in (*first.approvals, *rest.approvals)] == ids["acme"]
    assert rest.cursor is None
    assert [approval.id for approval in (await approvals.list("zeta")).approvals] == ids["zeta"]
    assert (await approvals.list("default")).approvals == []
