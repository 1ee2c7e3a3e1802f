"""What the feature cache adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="cache",
    options=frozenset({"cache"}),
)
