"""Rules in a database."""

import itertools
import time
from collections.abc import Callable

from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.approvals.rules import ApprovalRule, RulePage, TooManyRules, UnknownRule
from sidecall.kernel.ports.call_entry import to_datetime
from sidecall.storage.database import Database, Row

_Key = tuple[str, str, str]


class MemoryRules:
    """Remember up to `most` rules, `most_of_tenant` of them of one tenant; they are lost when the process ends."""

    # No method awaits, so each is atomic on the event loop.

    def __init__(self, most: int = 10_000, clock: Callable[[], float] = time.time, most_of_tenant: int = 1000) -> None:
        self._most = most
        self._most_of_tenant = most_of_tenant
        self._clock = clock
        self._rules: dict[_Key, tuple[int, ApprovalRule]] = {}
        self._numbers = itertools.count(1)

    async def keep(self, rule: ApprovalRule) -> None:
        """Store a rule, replacing the one for the same tool and caller.

        Raises:
            TooManyRules: The store or the tenant is full.
        """
        self._forget()
        key = (rule.tenant, rule.caller, rule.tool)
        of_tenant = sum(tenant == rule.tenant for tenant, _, _ in self._rules)
        if key not in self._rules and (len(self._rules) >= self._most or of_tenant >= self._most_of_tenant):
            raise TooManyRules
        self._rules.pop(key, None)
        self._rules[key] = (next(self._numbers), rule)

    async def find(self, caller: Caller, tool: str, definition: str) -> ApprovalRule | None:
        """Find the rule for a caller's calls of a tool with this definition; None if there is none."""
        self._forget()
        _, rule = self._rules.get((caller.tenant, caller.subject, tool), (0, None))
        return rule if rule is not None and rule.definition == definition else None

    async def list(self, tenant: str, limit: int = 100, cursor: str | None = None) -> RulePage:
        """List a tenant's rules, oldest first, up to `limit`, after the cursor of the page before."""
        self._forget()
        after = int(cursor or 0)
        found = [(number, rule) for number, rule in self._rules.values() if number > after and rule.tenant == tenant]
        shown = found[:limit]
        return RulePage([rule for _, rule in shown], str(shown[-1][0]) if len(found) > limit else None)

    async def remove(self, rule_id: str, tenant: str) -> None:
        """Revoke a rule of a tenant.

        Raises:
            UnknownRule: There is none.
        """
        self._forget()
        key = next((key for key, (_, rule) in self._rules.items() if (rule.id, rule.tenant) == (rule_id, tenant)), None)
        if key is None:
            raise UnknownRule
        del self._rules[key]

    def _forget(self) -> None:
        now = self._clock()
        for key, (_, rule) in list(self._rules.items()):
            if rule.expires_at is not None and rule.expires_at.timestamp() <= now:
                del self._rules[key]


class SqlRules:
    """Remember up to `most` rules, `most_of_tenant` of them of one tenant."""

    def __init__(
        self,
        database: Database,
        most: int = 10_000,
        clock: Callable[[], float] = time.time,
        most_of_tenant: int = 1000,
    ) -> None:
        self._database = database
        self._most = (most, most_of_tenant)
        self._clock = clock

    async def keep(self, rule: ApprovalRule) -> None:
        """Store a rule, replacing the one for the same tool and caller.

        Raises:
            TooManyRules: The store or the tenant is full.
        """
        await self.forget()
        whose = (rule.tenant, rule.caller, rule.tool)
        expires_at = None if rule.expires_at is None else rule.expires_at.timestamp()
        decided = (rule.definition, rule.decision, rule.reason, rule.decided_by, rule.decided_at.timestamp())
        values = (rule.id, *whose, *decided, expires_at, rule.approval_id, *self._most)
        if await self._database.write("keep_rule", *values) is None:
            raise TooManyRules

    async def find(self, caller: Caller, tool: str, definition: str) -> ApprovalRule | None:
        """Find the rule for a caller's calls of a tool with this definition; None if there is none."""
        whose = (caller.tenant, caller.subject, tool)
        rows = await self._database.read("find_rule", *whose, definition, self._clock())
        return _to_rule(rows[0]) if rows else None

    async def list(self, tenant: str, limit: int = 100, cursor: str | None = None) -> RulePage:
        """List a tenant's rules, oldest first, up to `limit`, after the cursor of the page before."""
        rows = await self._database.read("list_rules", int(cursor or 0), self._clock(), limit + 1, tenant)
        shown = rows[:limit]
        return RulePage([_to_rule(row) for row in shown], str(shown[-1][0]) if len(rows) > limit else None)

    async def remove(self, rule_id: str, tenant: str) -> None:
        """Revoke a rule of a tenant.

        Raises:
            UnknownRule: There is none.
        """
        # PostgreSQL rejects a text with a NUL.
        if "\0" in rule_id or await self._database.write("remove_rule", rule_id, self._clock(), tenant) is None:
            raise UnknownRule

    async def forget(self) -> None:
        """Delete expired rules.

        Raises:
            StoreUnavailable: The database is unavailable.
        """
        await self._database.write("forget_rules", self._clock())


def _to_rule(row: Row) -> ApprovalRule:
    _, rule_id, tenant, caller, tool, definition, decision, reason, *whence = row
    decided_by, decided_at, expires_at, approval_id = whence
    return ApprovalRule(
        id=rule_id,
        tool=tool,
        caller=caller,
        tenant=tenant,
        definition=definition,
        decision=decision,
        reason=reason,
        decided_by=decided_by,
        decided_at=to_datetime(decided_at),
        expires_at=None if expires_at is None else to_datetime(expires_at),
        approval_id=approval_id,
    )
