"""What the feature fleet adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="fleet",
    needs=("calls",),
    commands={"worker": "sidecall.cli.worker:worker", "fleet": "sidecall.features.fleet.cli:fleet"},
)
