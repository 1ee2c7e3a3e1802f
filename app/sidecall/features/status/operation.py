"""Parts of the status that belong to no other part of a server."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sidecall.features.approvals.stores import Approvals, WaitingApprovals
from sidecall.features.ledger.ledger import Ledger
from sidecall.features.telemetry.per_minute import Minutes
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.pipeline.admission import Admission
from sidecall.kernel.ports.call_entry import HistoryMode

if TYPE_CHECKING:
    from sidecall.features.mcp_client import connection_supervisor as _connection_supervisor
    from sidecall.features.mcp_client import upstream as _upstream


async def count_waiting(approvals: Approvals) -> WaitingApprovals | None:
    """Count the calls that wait for a person; None while the store is unavailable."""
    try:
        return await approvals.count_waiting()
    except StoreUnavailable:
        return None


class NoUpstream:
    """The MCP servers of a server that offers the tools of none."""

    servers: "Sequence[_connection_supervisor.UpstreamServer]" = ()
    waiting: Mapping[str, frozenset[str]] = MappingProxyType({})
    offered: Mapping[str, int] = MappingProxyType({})

    async def open(self, _on_tools: Callable[[], object]) -> None:
        """Do nothing."""

    async def close(self) -> None:
        """Do nothing."""

    def rejoin(self) -> None:
        """Do nothing."""

    async def wait_until_tried(self, _seconds: float) -> None:
        """Do nothing."""


@dataclass(frozen=True, slots=True)
class Operation:
    """Parts of the status that belong to no other part of a server.

    `forgets` is the reason why everything is lost at the server's end although that was not configured. `features` are
    rows of installed features.
    """

    minutes: Minutes
    admission: Admission
    ledger: Ledger
    history: HistoryMode = "off"
    workers: int = 1
    forgets: str | None = None
    upstream: "_upstream.Upstream | NoUpstream" = field(default_factory=NoUpstream)
    count_spans_dropped: Callable[[], int | None] = lambda: None
    list_load_errors: Callable[[], Iterable[str]] = tuple
    features: Mapping[str, Mapping[str, Callable[[], Any]]] = field(default_factory=dict)
