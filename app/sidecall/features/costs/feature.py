"""What the feature costs adds to a server: steps that keep calls within budgets, and what is spent."""

from sidecall.feature import Built, Feature, Host
from sidecall.features.costs.budgets import read_budgets
from sidecall.features.costs.sql_store import SpendingLog
from sidecall.features.costs.steps import make_budget_stages


def build(host: Host) -> Built:
    """Make the steps of calls; none without a budget."""
    settings = host.server
    if settings.budget is None:
        return Built()
    log, action = SpendingLog(host.ledger.database), settings.budget_action
    budgets = read_budgets(settings.budget)
    return Built(stages=make_budget_stages(budgets, log, action, host.ledger.approvals))


FEATURE = Feature(
    name="costs",
    needs=("approvals",),
    options=frozenset({"cost"}),
    settings_off={"budget": None},
    build=build,
)
