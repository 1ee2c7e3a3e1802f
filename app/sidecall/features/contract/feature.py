"""What the feature contract adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="contract",
    commands={"lock": "sidecall.features.contract.cli:lock"},
)
