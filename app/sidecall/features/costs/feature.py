"""What the feature costs adds to a server: steps that keep calls within budgets, and what is spent."""

from typing import TYPE_CHECKING

from sidecall.feature import Built, Feature, Host
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.features.costs import budgets as _budgets
    from sidecall.features.costs import sql_store as _store
    from sidecall.features.costs import steps as _steps
else:
    _budgets = Later("sidecall.features.costs.budgets")
    _store = Later("sidecall.features.costs.sql_store")
    _steps = Later("sidecall.features.costs.steps")


def build(host: Host) -> Built:
    """Make the steps of calls; none without a budget."""
    settings = host.server
    if settings.budget is None:
        return Built()
    log, action = _store.SpendingLog(host.ledger.database), settings.budget_action
    budgets = _budgets.read_budgets(settings.budget)
    return Built(stages=_steps.make_budget_stages(budgets, log, action, host.ledger.approvals))


FEATURE = Feature(
    name="costs",
    needs=("approvals",),
    options=frozenset({"cost"}),
    settings_off={"budget": None},
    build=build,
)
