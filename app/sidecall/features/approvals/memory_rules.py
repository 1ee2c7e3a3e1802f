"""Rules in this process's memory."""

import itertools
import time
from collections.abc import Callable

from sidecall.kernel.core.context import Caller
from sidecall.kernel.ports.approvals.rules import ApprovalRule, RulePage, TooManyRules, UnknownRule

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
