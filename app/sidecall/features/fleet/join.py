"""Join a server to its fleet: its executor, the tools that run there, and its numbers."""

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from sidecall.feature import Built, Host
from sidecall.features.fleet.access import BusAccess, name_process
from sidecall.features.fleet.executor import FleetBounds, FleetExecutor
from sidecall.features.fleet.placement import Placement
from sidecall.kernel.registry import Registry

if TYPE_CHECKING:
    from sidecall.features.ledger import ledger as _ledger


# Seconds; a server writes its heartbeat every two.
_QUIET = 2.2


def join(host: Host) -> Built:
    """Give a server the executor of its fleet, and place its tools.

    Raises:
        InvalidToolOption: Workers cannot run a tool that is for them.
        KeysUnusable: The extra for its keys is not installed.
    """
    settings, placement = host.server, Placement(host.server.placement)
    wanted = FleetBounds(
        queue_timeout=settings.queue_timeout,
        max_waiting=settings.fleet_max_waiting,
        max_result_bytes=settings.max_result_bytes,
    )
    tell = partial(_place, host.registry, placement)
    tell(())
    access = BusAccess.read(settings)
    assert access is not None
    fleet = FleetExecutor(access, name_process(), wanted, tell, _share(host.ledger))
    return Built(executors={"fleet": fleet}, add_metrics=partial(_measure, fleet))


class SharedServers:
    """The servers of a database, as the fleet knows them."""

    def __init__(self, ledger: "_ledger.Ledger") -> None:
        """Take the ledger that they share."""
        self.owner = ledger.owner
        self._ledger = ledger

    async def end_server(self, owner: str) -> bool:
        """Note that a server has ended; return False where it has said something just now.

        Raises:
            StoreUnavailable: It cannot be noted.
        """
        now = await self._ledger.heartbeat.tell_time()
        return await self._ledger.database.write("fleet_end_server", owner, now - _QUIET) is not None


def _share(ledger: "_ledger.Ledger") -> SharedServers | None:
    """Return the servers of a database; processes of one machine that share a file see each other's ends anyhow."""
    return SharedServers(ledger) if ledger.is_shared and ledger.kind == "postgres" else None


def _place(registry: Registry, placement: Placement, available: Collection[str]) -> None:
    """Serve the tools as they are with these available, as listings say."""
    registry.adapt = partial(placement.place, available=available)
    registry.replace(registry.given)


def _measure(fleet: FleetExecutor, metrics: Any) -> None:
    """Show the numbers of the fleet, as this server has them."""
    metrics.add_gauge("sidecall_fleet_up", "Whether the bus of the fleet can be reached.", lambda: fleet.is_up)
    for name, text, read in (
        ("waiting", "Calls that wait for a worker.", lambda: fleet.count()[0]),
        ("oldest_seconds", "How long the oldest of them has waited.", fleet.find_oldest),
        ("running", "Calls that run on workers.", lambda: fleet.count()[1]),
        ("workers", "Workers that take calls.", fleet.count_workers),
    ):
        metrics.add_gauge_of(f"sidecall_fleet_{name}", text, "queue", partial(_read_all, fleet, read))
    metrics.add_counter("sidecall_fleet_lost", "Attempts that were lost with their workers.", lambda: fleet.lost)
    metrics.add_counter("sidecall_fleet_repeated", "Calls that were given out again.", lambda: fleet.repeated)


def _read_all(fleet: FleetExecutor, read: Callable[[], Mapping[str, float]]) -> dict[str, float]:
    """Read a number of each queue, also of those that have no calls or workers just now."""
    return {**dict.fromkeys(fleet.list_queues(), 0.0), **read()}
