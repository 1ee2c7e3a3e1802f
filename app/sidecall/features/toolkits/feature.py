"""What the feature toolkits adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="toolkits",
    settings_off={"toolkits": ()},
    commands={"toolkits": "sidecall.features.toolkits.cli:toolkits"},
)
