"""What the feature costs adds to a server: steps that keep calls within budgets, and what is spent."""

from collections.abc import Callable

from sidecall.feature import Built, Feature, Host
from sidecall.kernel.pipeline.stage import Stage
from sidecall.later import later

_open_budgets: Callable[..., tuple[Stage, ...]] = later("sidecall.features.costs.steps:open_budgets")


def build(host: Host) -> Built:
    """Make the steps of calls; none without a budget."""
    settings = host.server
    if settings.budget is None:
        return Built()
    ledger = host.ledger
    return Built(stages=_open_budgets(settings.budget, settings.budget_action, ledger.database, ledger.approvals))


FEATURE = Feature(
    name="costs",
    needs=("approvals",),
    options=frozenset({"cost"}),
    settings_off={"budget": None},
    build=build,
)
