"""What the feature sandbox adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="sandbox",
    options=frozenset({"command"}),
    executors=frozenset({"sandbox"}),
)
