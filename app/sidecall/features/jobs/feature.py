"""What the feature jobs adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="jobs",
    needs=("calls",),
    options=frozenset({"background", "idempotency"}),
)
