"""Settings of budgets: what calls of one caller, or of one conversation, may cost in a time."""

from typing import Literal

from pydantic import Field, field_validator
from pydantic_settings import BaseSettings

from sidecall.features.costs.budgets import read_budgets

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
