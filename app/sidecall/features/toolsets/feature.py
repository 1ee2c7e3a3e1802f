"""What the feature toolsets adds to a server."""

from sidecall.feature import Feature

FEATURE = Feature(
    name="toolsets",
    settings_off={"toolsets": None},
    part="sidecall.features.toolsets.toolset_file:make_reader",
)
