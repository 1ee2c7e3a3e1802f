"""The refusal of a call for which a budget has nothing left, in words that say when it is possible again."""

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sidecall.features.costs.budgets import Budget, Window
from sidecall.kernel.core.cost import to_number, write_amount
from sidecall.kernel.core.overload import BudgetSpent


@dataclass(frozen=True, slots=True)
class Shortage:
    """What a budget lacks for a call: `spent` and `price` are billionths, `now` is in seconds since 1970."""

    budget: Budget
    window: Window
    spent: int
    price: int
    now: float

    @property
    def retry_after(self) -> int:
        """Whole seconds until the budget begins anew, at least 1."""
        return max(1, math.ceil(self.window.ends_at - self.now))

    @property
    def renewed_at(self) -> str:
        """When that is, in UTC."""
        return datetime.fromtimestamp(self.window.ends_at, UTC).isoformat().replace("+00:00", "Z")

    @property
    def reason(self) -> str:
        """What is lacking, in a sentence or two."""
        budget = self.budget
        whole = f"The budget of one {budget.owner} is {write_amount(budget.most)} per {budget.unit}"
        if self.spent >= budget.most:
            return f"{whole}, and it is used up: {write_amount(self.spent)} spent."
        left = write_amount(budget.most - self.spent)
        return f"{whole}, and {left} are left. This call costs {write_amount(self.price)}."


def refuse(shortage: Shortage) -> BudgetSpent:
    """Make the error of a call for which a budget has nothing left."""
    budget = shortage.budget
    told: dict[str, Any] = {"per": budget.owner, "time": budget.unit, "most": to_number(budget.most)}
    told |= {"spent": to_number(shortage.spent), "renewed_at": shortage.renewed_at}
    again = f"It is possible again at {shortage.renewed_at}, in {shortage.retry_after} s."
    if shortage.price > budget.most:
        again = "That is more than the whole budget."
    return BudgetSpent(shortage.reason, again, retry_after=shortage.retry_after, budget=told)
