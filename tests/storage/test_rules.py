"""Decisions for later calls are kept, one for each tool of a caller, until they are revoked or expire."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from sidecall import Caller
from sidecall.features.approvals.stores import ApprovalRules
from sidecall.kernel.ports.approvals.rules import ApprovalRule, TooManyRules, UnknownRule
from tests.kit.ledgers import Clock, Place

NOW = datetime.fromtimestamp(1_000_000, UTC)
ADA = Caller("ada", "acme")


def make_rule(id: str = "1", **members: Any) -> ApprovalRule:
    """Make a rule of Ada's about refunds."""
    told = {"tool": "refund", "caller": "ada", "tenant": "acme", "definition": "abc", "decision": "approve"}
    who = {"decided_by": "eve", "decided_at": NOW, "approval_id": "7"}
    return ApprovalRule(id=id, **{**told, **who, **members})


@pytest.fixture
def rules(ledger: Place, clock: Clock) -> ApprovalRules:
    """Keep two rules."""
    return ledger.rules(2, clock)


async def ids(rules: ApprovalRules) -> list[str]:
    """List the ids of all."""
    return [rule.id for rule in (await rules.list("acme")).rules]


async def test_a_rule_is_found_as_it_was_kept(rules: ApprovalRules) -> None:
    """With all that was said."""
    rule = make_rule(decision="reject", reason="Never.", expires_at=NOW + timedelta(seconds=10))
    await rules.keep(rule)

    assert await rules.find(ADA, "refund", "abc") == rule
    assert (await rules.list("acme")).rules == [rule]


@pytest.mark.parametrize(
    ("caller", "tool", "definition"),
    [
        (Caller("bob", "acme"), "refund", "abc"),
        (Caller("ada", "other"), "refund", "abc"),
        (ADA, "refunds", "abc"),
        (ADA, "refund", "abd"),
    ],
    ids=["caller", "tenant", "tool", "definition"],
)
async def test_a_rule_holds_for_nothing_else(rules: ApprovalRules, caller: Caller, tool: str, definition: str) -> None:
    """Nobody has decided about that."""
    await rules.keep(make_rule())

    assert await rules.find(caller, tool, definition) is None


async def test_the_last_word_counts(rules: ApprovalRules) -> None:
    """It takes the place of the one before, and no room."""
    await rules.keep(make_rule("1"))
    await rules.keep(make_rule("2", tool="pay"))
    await rules.keep(make_rule("3", decision="reject"))

    found = await rules.find(ADA, "refund", "abc")

    assert found is not None
    assert (found.id, found.decision) == ("3", "reject")
    assert sorted(await ids(rules)) == ["2", "3"]


async def test_there_is_an_end_of_room(rules: ApprovalRules, clock: Clock) -> None:
    """Until one has expired."""
    await rules.keep(make_rule("1", expires_at=NOW + timedelta(seconds=10)))
    await rules.keep(make_rule("2", tool="pay"))
    with pytest.raises(TooManyRules):
        await rules.keep(make_rule("3", tool="send"))
    clock.now += 10.0
    before = await ids(rules)
    await rules.keep(make_rule("3", tool="send"))

    assert (before, await ids(rules)) == (["2"], ["2", "3"])


async def test_a_tenant_has_room_of_its_own(ledger: Place, clock: Clock) -> None:
    """So that one does not take that of all."""
    rules = ledger.rules(3, clock, most_of_tenant=2)
    await rules.keep(make_rule("1", tool="refund"))
    await rules.keep(make_rule("2", tool="pay"))
    with pytest.raises(TooManyRules):
        await rules.keep(make_rule("3", tool="send"))
    await rules.keep(make_rule("4", tool="pay"))
    await rules.keep(make_rule("5", tenant="other"))
    with pytest.raises(TooManyRules):
        await rules.keep(make_rule("6", tenant="third"))

    assert await ids(rules) == ["1", "4"]
    assert [rule.id for rule in (await rules.list("other")).rules] == ["5"]


async def test_a_rule_expires(rules: ApprovalRules, clock: Clock) -> None:
    """To the second."""
    await rules.keep(make_rule(expires_at=NOW + timedelta(seconds=10)))
    clock.now += 9.9
    assert await rules.find(ADA, "refund", "abc") is not None
    clock.now += 0.1
    assert await rules.find(ADA, "refund", "abc") is None
    with pytest.raises(UnknownRule):
        await rules.remove("1", "acme")


async def test_a_rule_is_revoked_once(rules: ApprovalRules) -> None:
    """It holds no more then."""
    await rules.keep(make_rule())
    await rules.remove("1", "acme")

    assert await rules.find(ADA, "refund", "abc") is None
    for unknown in ("1", "1\0"):
        with pytest.raises(UnknownRule):
            await rules.remove(unknown, "acme")


async def test_rules_are_listed_in_pages(rules: ApprovalRules) -> None:
    """Oldest first."""
    await rules.keep(make_rule("1"))
    await rules.keep(make_rule("2", tool="pay"))

    first = await rules.list("acme", 1)
    second = await rules.list("acme", 1, first.cursor)

    assert [rule.id for rule in (*first.rules, *second.rules)] == ["1", "2"]
    assert second.cursor is None


async def test_a_rule_is_its_tenants_own(rules: ApprovalRules) -> None:
    """Others neither see nor revoke it."""
    await rules.keep(make_rule("1"))

    with pytest.raises(UnknownRule):
        await rules.remove("1", "other")

    assert (await rules.list("other")).rules == []
    assert await ids(rules) == ["1"]
