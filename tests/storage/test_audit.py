"""Decisions are kept for a time, up to a number of them, and refusals cannot push them out."""

from datetime import UTC, datetime
from typing import Any

import pytest

from sidecall.features.audit.stores import AuditEntry, AuditFilter, AuditTrail
from tests.kit.ledgers import Clock, Place

ACME = AuditFilter("acme")


def make_entry(id: str = "1", at: float = 1_000_000, **members: Any) -> AuditEntry:
    """Make an entry of Eve's."""
    told = {"action": "approved", "by": "eve", "tenant": "acme", "target": "7", "details": {"reason": "Fine."}}
    return AuditEntry(id=id, at=datetime.fromtimestamp(at, UTC), **{**told, **members})


@pytest.fixture
def trail(ledger: Place, clock: Clock) -> AuditTrail:
    """Keep four entries for ten seconds."""
    return ledger.audit(10.0, 4, clock)


async def ids(trail: AuditTrail, wanted: AuditFilter = ACME) -> list[str]:
    """List the ids of those that are wanted."""
    return [entry.id for entry in (await trail.list(wanted)).entries]


async def test_an_entry_is_listed_as_it_was_written(trail: AuditTrail) -> None:
    """Once, however often it is added."""
    entry = make_entry(count=3)
    await trail.add(entry)
    await trail.add(entry)

    assert (await trail.list(ACME)).entries == [entry]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (AuditFilter("acme"), ["3", "2", "1"]),
        (AuditFilter("other"), ["4"]),
        (AuditFilter("acme", action="denied"), ["2"]),
        (AuditFilter("acme", by="bob"), ["3"]),
        (AuditFilter("acme", since=1_000_001), ["3", "2"]),
        (AuditFilter("acme", until=1_000_002), ["2", "1"]),
    ],
)
async def test_entries_are_chosen(trail: AuditTrail, wanted: AuditFilter, expected: list[str]) -> None:
    """One tenant sees nothing of another's."""
    await trail.add(make_entry("1"))
    await trail.add(make_entry("2", 1_000_001, action="denied", by=None))
    await trail.add(make_entry("3", 1_000_002, by="bob"))
    await trail.add(make_entry("4", tenant="other"))

    assert await ids(trail, wanted) == expected


async def test_entries_come_in_pages(trail: AuditTrail) -> None:
    """Latest first."""
    for number in "123":
        await trail.add(make_entry(number))

    first = await trail.list(ACME, 2)
    second = await trail.list(ACME, 2, first.cursor)

    assert [[entry.id for entry in page.entries] for page in (first, second)] == [["3", "2"], ["1"]]
    assert second.cursor is None


async def test_an_entry_is_forgotten_in_time(trail: AuditTrail, clock: Clock) -> None:
    """Not before."""
    await trail.add(make_entry())
    clock.now += 9.9
    before = await ids(trail)
    clock.now += 0.2
    await trail.forget()

    assert (before, await ids(trail)) == (["1"], [])


async def test_the_oldest_give_way(trail: AuditTrail) -> None:
    """To as many as may be."""
    for number in "123456":
        await trail.add(make_entry(number))
    await trail.forget()

    assert await ids(trail) == ["6", "5", "4", "3"]


async def test_refusals_do_not_push_out_decisions(trail: AuditTrail) -> None:
    """They have half of the room."""
    await trail.add(make_entry("decided"))
    for number in range(10):
        await trail.add(make_entry(f"{number}", action="denied"))
    await trail.forget()

    assert await ids(trail) == ["9", "8", "decided"]
