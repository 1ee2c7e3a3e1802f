"""What the feature remote_agents adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="remote_agents",
    commands={"agent": "sidecall.features.remote_agents.cli:agent"},
)
