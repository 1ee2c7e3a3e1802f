"""What the feature contract adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="contract",
    options=frozenset({"deprecated"}),
    commands={"lock": "sidecall.features.contract.cli:lock"},
)
