"""What the feature rates adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="rates",
    options=frozenset({"rate"}),
    settings_off={"rate_limit": None, "shared_rates": False},
)
