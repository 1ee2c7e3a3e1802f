"""What the feature native_items adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="native_items",
    options=frozenset({"native", "toolset", "input", "grammar"}),
)
