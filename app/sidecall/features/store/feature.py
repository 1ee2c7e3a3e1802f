"""What the feature store adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="store",
    parameters=frozenset({"store"}),
)
