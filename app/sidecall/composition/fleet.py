"""Join a server to its fleet, if the settings name one."""

import logging
import os
import socket
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sidecall.features.fleet.placement import Placement
from sidecall.features.telemetry.metrics import Metrics
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.executors.base import Executor
from sidecall.kernel.registry import Registry
from sidecall.later import Later
from sidecall.settings import Settings

if TYPE_CHECKING:
    from sidecall.features.fleet import executor as _executor
else:
    _executor = Later("sidecall.features.fleet.executor")

logger = logging.getLogger("sidecall.fleet")


class FleetUnusable(SidecallError):
    """The settings name a fleet, and what it needs is not installed."""


def place_tools(settings: Settings, registry: Registry) -> None:
    """Have the tools that are for workers run there; without a fleet, say that they run here.

    Raises:
        InvalidToolOption: Workers cannot run one of them.
    """
    placement = Placement(settings.placement)
    if settings.fleet is not None:
        registry.adapt(placement.place)
        return
    placed = [tool.name for tool in registry if placement.find_queue(tool) is not None]
    if placed:
        logger.info("SIDECALL_FLEET is not set, so these run here, though a queue is meant: %s", ", ".join(placed))


def build_fleet(settings: Settings) -> Mapping[ExecutorName, Executor]:
    """Make the executor of the fleet, if there is one; nothing is loaded without.

    Raises:
        FleetUnusable: The extra for it is not installed.
        KeysUnusable: That for its keys is not.
    """
    if settings.fleet is None:
        return {}
    try:
        make, bounds = _executor.FleetExecutor, _executor.FleetBounds
    except ImportError as error:
        raise explain_lack(error) from None
    wanted = bounds(
        queue_timeout=settings.queue_timeout,
        max_waiting=settings.fleet_max_waiting,
        max_result_bytes=settings.max_result_bytes,
    )
    return {"fleet": make(settings.fleet.get_secret_value(), settings.fleet_keys, name_process(), wanted)}


def explain_lack(error: ImportError) -> SidecallError:
    """Return the error that says how the fleet's library is installed."""
    return FleetUnusable(f"SIDECALL_FLEET needs an extra: pip install 'sidecall[fleet]' ({error})")


def name_process() -> str:
    """Return by what people know this process: its machine and number."""
    return f"{socket.gethostname()}-{os.getpid()}"


def find_availability(executors: Mapping[ExecutorName, Executor]) -> Callable[[CompiledTool], bool]:
    """Return the function that says whether a tool can run just now: those for workers, whether there is one."""
    fleet = executors.get("fleet")
    if fleet is None:
        return lambda _: True
    assert isinstance(fleet, _executor.FleetExecutor)
    return lambda tool: tool.executor != "fleet" or fleet.is_available(tool)


def measure_fleet(metrics: Metrics, executors: Mapping[ExecutorName, Executor]) -> None:
    """Show the numbers of the fleet, as this server has them."""
    fleet = executors.get("fleet")
    if fleet is None:
        return
    assert isinstance(fleet, _executor.FleetExecutor)
    of = metrics.add_gauge_of
    metrics.add_gauge("sidecall_fleet_up", "Whether the bus of the fleet can be reached.", lambda: fleet.is_up)
    of("sidecall_fleet_waiting", "Calls that wait for a worker.", "queue", lambda: fleet.count()[0])
    of("sidecall_fleet_running", "Calls that run on workers.", "queue", lambda: fleet.count()[1])
    of("sidecall_fleet_workers", "Workers that take calls.", "queue", fleet.roster.count)
    metrics.add_counter("sidecall_fleet_lost", "Attempts that were lost with their workers.", lambda: fleet.lost)
    metrics.add_counter("sidecall_fleet_repeated", "Calls that were given out again.", lambda: fleet.repeated)
