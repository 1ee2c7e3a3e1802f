"""The models of the status."""

from datetime import datetime
from typing import Any

from pydantic import BaseModel, Field

from sidecall.features.approvals.stores import WaitingApprovals
from sidecall.features.ledger.ledger import StoreKind
from sidecall.features.telemetry.per_minute import Minute
from sidecall.kernel.core.options import ExecutorName
from sidecall.kernel.lifecycle import Phase, UpstreamState
from sidecall.kernel.ports.call_entry import HistoryMode

_P50 = "Half of its calls took no longer, as near as a histogram says."
_P95 = "Of twenty of its calls nineteen took no longer."


class ProcessStatus(BaseModel, defer_build=True):
    """The process that answers; each worker answers for itself."""

    pid: int
    workers: int = Field(description="How many server processes share the port.")
    uptime_seconds: float
    requests_in_flight: int | None = Field(
        description="Requests that are not answered yet, this one included; null where they are not counted."
    )
    connections: int | None = Field(description="Connections that are open; null where they are not counted.")
    event_loop_stuck_seconds: float | None = Field(
        description="Seconds since the start for which code on the event loop held up everything, in stretches of half "
        "a second and more; null where they are not counted."
    )
    log_lines_dropped: int = Field(description="Log lines that were dropped, since they were not read in time.")
    spans_dropped: int | None = Field(
        description="Spans that their collector has not taken; null where none are sent from here."
    )


class QueueStatus(BaseModel, defer_build=True):
    """How full something is."""

    running: int
    most_running: int | None = Field(description="How many may run; null: no limit.")
    waiting: int
    most_waiting: int = Field(description="How many may wait.")


class ExecutorStatus(BaseModel, defer_build=True):
    """How full one executor is."""

    size: int | None = Field(description="How many calls it can run at once; null: no limit.")
    busy: int
    waiting: int
    abandoned: int = Field(description="Calls that run on although they were answered already.")
    killed: int = Field(description="Processes that it has killed since the server started.")


class StoreStatus(BaseModel, defer_build=True):
    """Whether what has to be remembered can be."""

    kind: StoreKind
    usable: bool
    trouble: str | None = Field(
        description="Why it cannot be used; or, while it can, why it is in memory and lost at the end."
    )
    unusable_since: datetime | None = Field(description="Since when it cannot be used, where that is known.")


class HistoryStatus(StoreStatus):
    """Whether calls that end are written down."""

    mode: HistoryMode = Field(description="What is kept of them.")
    dropped: int = Field(description="Calls that were left out since the server started, for want of room.")


class WorkspacesStatus(BaseModel, defer_build=True):
    """Where the files of conversations are, and how much room there is."""

    place: str = Field(description="The folder in which they are.")
    kept: int = Field(description="How many workspaces there are.")
    most: int = Field(description="How many there may be.")
    disk_bytes: int | None = Field(description="How large the disk is on which they are; null where it does not say.")
    free_bytes: int | None = Field(description="How much of it is free.")
    trouble: str | None = Field(description="Why they could not be written when one was last asked for.")


class McpServerStatus(BaseModel, defer_build=True):
    """An MCP server whose tools are offered here."""

    name: str
    place: str = Field(description="The command that starts it, or where it is.")
    state: UpstreamState = Field(description="`down`: its tools are not offered, and it is tried again.")
    since: datetime
    trouble: str | None = Field(description="Why it is not connected.")
    revision: str | None = Field(description="The revision of MCP that is spoken with it.")
    connects: int = Field(description="How often it was connected to since this process started.")
    tools: int = Field(description="How many tools of it are offered.")
    waiting: list[str] = Field(description="Tools that have changed and wait for an operator.")


class ToolStatus(BaseModel, defer_build=True):
    """How the calls of one tool went since the server started."""

    name: str
    running: int
    outcomes: dict[str, int]
    p50_ms: float | None = Field(description=_P50)
    p95_ms: float | None = Field(description=_P95)


class ServerStatus(BaseModel, defer_build=True):
    """How the server is, and what the last two hours were like."""

    version: str
    at: datetime
    phase: Phase = Field(description="`draining`: it finishes what it has begun, and wants nothing new.")
    process: ProcessStatus
    calls: QueueStatus = Field(description="Calls that were let in, and those that wait for that.")
    jobs: QueueStatus = Field(
        description="Remembered calls that run here, and those that are queued; servers of one store share the queue."
    )
    approvals: WaitingApprovals | None = Field(
        description="Calls that wait for a person; null where the store cannot be used."
    )
    store: StoreStatus
    history: HistoryStatus
    workspaces: WorkspacesStatus
    executors: dict[ExecutorName, ExecutorStatus]
    mcp_servers: list[McpServerStatus] = Field(description="Those whose tools are offered here.")
    load_errors: list[str] = Field(
        description="Why the tools' files could not be loaded again when they last changed; the tools of before serve."
    )
    tools: list[ToolStatus] = Field(description="Those that were called; `unknown` is all that are none.")
    this_minute: Minute = Field(description="What has happened since the last of `minutes`.")
    minutes: list[Minute] = Field(description="The last two hours at most, the latest minute last.")
    features: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="What installed features say of themselves, by their names."
    )
