"""What the feature fleet adds to a server."""

import logging
from typing import TYPE_CHECKING

from sidecall.feature import Built, Feature, Host
from sidecall.later import Later

if TYPE_CHECKING:
    from sidecall.features.fleet import joining as _joining
    from sidecall.features.fleet import placement as _placement
else:
    _joining = Later("sidecall.features.fleet.joining")
    _placement = Later("sidecall.features.fleet.placement")

_logger = logging.getLogger("sidecall.fleet")


def _build(host: Host) -> Built:
    """Have the tools that are for workers run there; without a fleet, say that they run here.

    Raises:
        InvalidToolOption: Workers cannot run one of them.
        FleetUnusable: The extra for a fleet is not installed.
    """
    if host.server.fleet is not None:
        return _joining.join(host)
    if host.server.placement or any(tool.options.queue is not None for tool in host.registry):
        placed = _placement.Placement(host.server.placement).list_placed(host.registry)
        if placed:
            _logger.info("SIDECALL_FLEET is not set, so these run here, though a queue is meant: %s", ", ".join(placed))
    return Built()


FEATURE = Feature(
    name="fleet",
    needs=("calls", "processes"),
    options=frozenset({"queue"}),
    executors=frozenset({"fleet"}),
    settings_off={"fleet": None, "fleet_key": None, "fleet_ca": None, "fleet_credentials": None, "placement": ()},
    commands={"fleet": "sidecall.features.fleet.cli:fleet"},
    build=_build,
)
