"""What the feature fleet adds to a server."""

import logging
from collections.abc import Callable

from sidecall.feature import Built, Feature, Host
from sidecall.features.fleet.placement import Placement, explain_lack
from sidecall.lazy_imports import later

# With which the client of the bus comes.
_join: Callable[[Host], Built] = later("sidecall.features.fleet.join:join")
_logger = logging.getLogger("sidecall.fleet")


def _build(host: Host) -> Built:
    """Have the tools that are for workers run there; without a fleet, say that they run here.

    Raises:
        InvalidToolOption: Workers cannot run one of them.
        FleetUnusable: The extra for a fleet is not installed.
    """
    if host.server.fleet is not None:
        try:
            return _join(host)
        except ImportError as error:
            raise explain_lack(error) from None
    if host.server.placement or any(tool.options.queue is not None for tool in host.registry):
        placed = Placement(host.server.placement).list_placed(host.registry)
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
