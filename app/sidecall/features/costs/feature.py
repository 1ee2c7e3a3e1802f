"""What the feature costs adds to a server: steps that keep calls within budgets, and what is spent."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="costs",
    needs=("approvals",),
    options=frozenset({"cost"}),
    settings_off={"budget": None},
    build="sidecall.features.costs.steps:build",
)
