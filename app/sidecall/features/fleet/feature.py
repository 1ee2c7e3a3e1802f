"""What the feature fleet adds to a server."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sidecall.feature import Feature, Host
from sidecall.features.fleet.placement import Placement

_logger = logging.getLogger("sidecall.fleet")


@asynccontextmanager
async def _tell_without(host: Host) -> AsyncIterator[None]:
    """Without a fleet, log which of the tools that are for workers run here."""
    if host.server.fleet is None and (host.server.placement or any(tool.options.queue for tool in host.registry)):
        placed = Placement(host.server.placement).list_placed(host.registry)
        if placed:
            _logger.info("SIDECALL_FLEET is not set, so these run here, though a queue is meant: %s", ", ".join(placed))
    yield


FEATURE = Feature(
    name="fleet",
    needs=("calls", "processes"),
    options=frozenset({"queue"}),
    executors=frozenset({"fleet"}),
    settings_off={"fleet": None, "fleet_key": None, "fleet_ca": None, "fleet_credentials": None, "placement": ()},
    commands={"fleet": "sidecall.features.fleet.cli:fleet"},
    asked=lambda settings: settings.fleet is not None,
    extra="sidecall[fleet]",
    build="sidecall.features.fleet.join:join",
    run=_tell_without,
)
