"""Budgets: what calls may cost in a time, and whose calls count together."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Literal, NamedTuple, cast

from msgspec import Struct
from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from sidecall.kernel.core.cost import BILLION
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.ports.workspaces import name_conversation

Unit = Literal["minute", "hour", "day", "month"]
Owner = Literal["caller", "conversation"]
_BUDGET = re.compile(
    r"(?P<amount>[0-9]{1,9}(?:\.[0-9]{1,9})?)/(?P<unit>minute|hour|day|month)(?: per (?P<owner>caller|conversation))?"
)
_SECONDS: Mapping[Unit, int] = {"minute": 60, "hour": 3600, "day": 86_400}


class Window(NamedTuple):
    """The time in which a budget holds, in whole seconds since 1970."""

    begins_at: int
    ends_at: int


class Budget(Struct, frozen=True):
    """What the calls of one caller, or of one conversation, may cost in each time; `most` is in billionths."""

    most: int
    unit: Unit
    owner: Owner

    def find_window(self, now: float) -> Window:
        """Return the time that this moment is in: a minute, hour, day or month of UTC."""
        seconds = _SECONDS.get(self.unit)
        if seconds is not None:
            begins = int(now) // seconds * seconds
            return Window(begins, begins + seconds)
        first = datetime.fromtimestamp(now, UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        next_first = (first + timedelta(days=32)).replace(day=1)
        return Window(int(first.timestamp()), int(next_first.timestamp()))

    def name_owner(self, request: CallRequest) -> str:
        """Return whose calls count together: those of a tenant's caller, or of one conversation of theirs.

        All callers without a name count as one; so do all of a caller's calls without a conversation.
        """
        caller = request.sender.caller
        parts = [self.owner, self.unit, caller.tenant, caller.subject]
        if self.owner == "conversation":
            parts.append(name_conversation(request.sender.headers, request.context) or "")
        return "\n".join(parts)


def read_budgets(text: str) -> tuple[Budget, ...]:
    """Read the budgets in a text such as `5.00/day, 0.50/hour per conversation`.

    Raises:
        ValueError: One is none, is 0, or comes twice.
    """
    budgets = [_read_budget(part.strip()) for part in text.split(",")]
    kinds = [(budget.unit, budget.owner) for budget in budgets]
    if len(set(kinds)) < len(kinds):
        raise ValueError("there are two budgets for the same time; write one for each")
    return tuple(budgets)


def _read_budget(text: str) -> Budget:
    found = _BUDGET.fullmatch(text)
    most = 0 if found is None else int(Decimal(found["amount"]) * BILLION)
    if found is None or not most:
        raise ValueError(
            "write an amount above 0 per minute, hour, day or month, such as 5.00/day or 0.50/hour per conversation"
        )
    return Budget(most, cast("Unit", found["unit"]), cast("Owner", found["owner"] or "caller"))


# What happens at the cap: the call is refused, or a person is asked.
BudgetAction = Literal["refuse", "approve"]


class CostSettings(BaseSettings, defer_build=True):
    """What calls may cost, and what happens to those that would cost more."""

    budget: str | None = Field(
        default=None,
        description="What the calls of one caller may cost in a minute, hour, day or month, for instance `5.00/day`; "
        "what those of one conversation may cost is `0.50/hour per conversation`. Several are separated by commas.",
    )
    budget_action: BudgetAction = Field(
        default="refuse",
        description="What happens to a call for which a budget has nothing left: `refuse` answers it with 429, "
        "`approve` lets it wait for a person.",
    )

    @field_validator("budget")
    @classmethod
    def _is_budget(cls, text: str | None) -> str | None:
        if text is not None:
            read_budgets(text)
        return text
