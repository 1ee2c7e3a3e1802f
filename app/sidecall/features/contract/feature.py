"""What the feature contract adds to a server."""

from sidecall.feature import Built, Feature, Host
from sidecall.features.contract.deprecated import DEPRECATION_STAGES
from sidecall.features.contract.lock import KnownContracts, read_locked


def _build(host: Host) -> Built:
    """Tell callers which tools are deprecated, and what has changed since the contract that a call is pinned to."""
    host.registry.contracts = KnownContracts(read_locked())
    return Built(stages=DEPRECATION_STAGES)


FEATURE = Feature(
    name="contract",
    options=frozenset({"deprecated"}),
    commands={"lock": "sidecall.features.contract.cli:lock"},
    build=_build,
)
