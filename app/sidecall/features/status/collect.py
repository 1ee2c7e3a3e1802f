"""Read how the server is."""

import os
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from sidecall.features.approvals.stores import WaitingApprovals
from sidecall.features.history.no_history import NoHistory
from sidecall.features.jobs.recovery import JobLoad
from sidecall.features.ledger.ledger import StoreKind
from sidecall.features.status.models import (
    ExecutorStatus,
    HistoryStatus,
    McpServerStatus,
    ProcessStatus,
    QueueStatus,
    ServerStatus,
    StoreStatus,
    ToolStatus,
    WorkspacesStatus,
)
from sidecall.features.status.operation import NoUpstream, Operation
from sidecall.features.telemetry.log_writer import count_dropped
from sidecall.features.telemetry.metrics import Metrics
from sidecall.features.telemetry.per_minute import estimate_ms
from sidecall.features.workspaces.workspaces import Workspaces
from sidecall.kernel.executors.base import Occupancy
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.ports.call_entry import to_datetime
from sidecall.storage.database import Database
from sidecall.version import __version__

if TYPE_CHECKING:
    from sidecall.features.history import history as _history
    from sidecall.features.mcp_client import upstream as _upstream


# The status text where the store forgets although that was not configured.
FORGETS = "what has to be remembered is kept in memory and lost at the end"


class _HasQueue(Protocol):
    @property
    def occupancy(self) -> Occupancy: ...

    @property
    def most_waiting(self) -> int: ...


class StatusReader:
    """Reads the status of a server from its parts."""

    def __init__(
        self, operation: Operation, metrics: Metrics, jobs: JobLoad, history: "_history.History | NoHistory"
    ) -> None:
        self._operation = operation
        self._metrics = metrics
        self._jobs = jobs
        self._history = history

    def read(
        self, lifecycle: Lifecycle, workspaces: WorkspacesStatus, approvals: WaitingApprovals | None
    ) -> ServerStatus:
        """Return the present status; workspaces and approvals are read first, since that may take time."""
        operation = self._operation
        return ServerStatus(
            version=__version__,
            at=datetime.now(UTC),
            phase=lifecycle.phase,
            process=_show_process(lifecycle, operation),
            calls=_show_queue(operation.admission),
            jobs=_show_queue(self._jobs),
            approvals=approvals,
            store=_show_store(operation.ledger.database, operation.ledger.kind, operation.forgets),
            history=self._show_history(),
            workspaces=workspaces,
            executors={
                name: ExecutorStatus(
                    size=one.size, busy=one.busy, waiting=one.waiting, abandoned=abandoned, killed=one.killed
                )
                for name, (one, abandoned) in self._metrics.read_executors().items()
            },
            mcp_servers=read_mcp_servers(operation.upstream),
            load_errors=list(operation.list_load_errors()),
            tools=self._list_tools(),
            this_minute=operation.minutes.read_this(),
            minutes=list(operation.minutes.past),
            features={name: {row: read() for row, read in rows.items()} for name, rows in operation.features.items()},
        )

    def _show_history(self) -> HistoryStatus:
        database = self._history.database
        kept = _show_store(database, "memory" if database is None else database.dialect)
        return HistoryStatus(**dict(kept), mode=self._operation.history, dropped=self._history.dropped)

    def _list_tools(self) -> list[ToolStatus]:
        return [
            ToolStatus(
                name=name,
                running=tally.in_flight,
                outcomes={outcome: count for outcome, count in tally.outcomes.items() if count},
                p50_ms=estimate_ms(tally, 0.5),
                p95_ms=estimate_ms(tally, 0.95),
            )
            for name, tally in self._metrics.tallies.items()
            if tally.begun or any(tally.outcomes.values())
        ]


def show_workspaces(workspaces: Workspaces) -> WorkspacesStatus:
    """Show where the files of conversations are, and how much room there is."""
    now = workspaces.measure()
    return WorkspacesStatus(
        place=str(workspaces.root),
        kept=now.kept,
        most=workspaces.most,
        disk_bytes=now.disk_bytes,
        free_bytes=now.free_bytes,
        trouble=workspaces.trouble,
    )


def read_mcp_servers(upstream: "_upstream.Upstream | NoUpstream") -> list[McpServerStatus]:
    """Read how each MCP server is whose tools are offered here."""
    return [
        McpServerStatus(
            name=server.name,
            place=server.entry.place,
            state=server.state,
            since=to_datetime(server.since),
            trouble=server.trouble,
            revision=server.revision,
            connects=server.connects,
            tools=upstream.offered[server.name],
            waiting=sorted(upstream.waiting.get(server.name, ())),
        )
        for server in upstream.servers
    ]


def _show_process(lifecycle: Lifecycle, operation: Operation) -> ProcessStatus:
    # This request is one of them, but other servers count none.
    counts = bool(lifecycle.in_flight)
    return ProcessStatus(
        pid=os.getpid(),
        workers=operation.workers,
        uptime_seconds=round(lifecycle.uptime, 3),
        requests_in_flight=len(lifecycle.in_flight) if counts else None,
        connections=len(lifecycle.connections) if counts else None,
        event_loop_stuck_seconds=round(lifecycle.stuck_seconds, 3) if counts else None,
        log_lines_dropped=count_dropped(),
        spans_dropped=operation.count_spans_dropped(),
    )


def _show_queue(queue: _HasQueue) -> QueueStatus:
    now = queue.occupancy
    return QueueStatus(running=now.busy, most_running=now.size, waiting=now.waiting, most_waiting=queue.most_waiting)


def _show_store(database: Database | None, kind: StoreKind, forgets: str | None = None) -> StoreStatus:
    trouble = None if database is None else database.trouble
    usable = trouble is None
    since = None if database is None or trouble is None else database.unavailable_since
    return StoreStatus(
        kind=kind,
        usable=usable,
        trouble=f"{FORGETS}: {forgets}" if usable and forgets is not None else trouble,
        unusable_since=None if since is None else to_datetime(since),
    )
