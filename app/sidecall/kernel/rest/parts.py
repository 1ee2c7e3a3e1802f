"""The objects that routes work with."""

from collections.abc import Awaitable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Request

from sidecall.features.access.middleware import caller_of
from sidecall.features.audit.auditor import Auditor
from sidecall.features.audit.memory_store import MemoryAudit
from sidecall.features.calls.entry import CallEntry
from sidecall.features.contents.excerpts import Excerpts
from sidecall.features.credentials.memory_store import MemorySecrets
from sidecall.features.credentials.own_secrets import SecretKeeper
from sidecall.features.history.no_history import NoHistory
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.openapi_import.documents import OpenAPIDocuments
from sidecall.features.status.operation import Operation
from sidecall.features.telemetry.metrics import Metrics
from sidecall.features.toolsets.toolsets import NO_TOOLSETS, Toolsets
from sidecall.features.webhooks.receivers import AllowedHosts
from sidecall.features.workspaces.workspaces import Workspaces
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.http.backlog import Backlog
from sidecall.kernel.http.body import Bounds
from sidecall.kernel.http.context import RequestContext, make_context
from sidecall.kernel.http.preferences import read_pins
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.pipeline.fair_start import BatchThrottle
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.stores import ApprovalRules, Approvals
from sidecall.kernel.ports.contents import Contents
from sidecall.kernel.ports.workspaces import require_conversation
from sidecall.kernel.registry import Registry
from sidecall.kernel.rest.deadline import DeadlineDep
from sidecall.kernel.rest.listing import Listings

if TYPE_CHECKING:
    from sidecall.features.history import history as _history
    from sidecall.features.vector_stores import stores as _stores


def _keep_none() -> SecretKeeper:
    return SecretKeeper(MemorySecrets(), None, Auditor(MemoryAudit()))


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one server, joined in `sidecall.main`."""

    registry: Registry
    pipeline: Pipeline
    approvals: Approvals
    contents: Contents
    listings: Listings
    bounds: Bounds
    max_batch: int
    jobs: Jobs
    operation: Operation
    metrics: Metrics = field(default_factory=Metrics)
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    toolsets: Toolsets = NO_TOOLSETS
    portions: BatchThrottle = field(default_factory=BatchThrottle)
    backlog: Backlog = field(default_factory=Backlog)
    excerpts: Excerpts = field(default_factory=Excerpts)
    receivers: AllowedHosts = field(default_factory=lambda: AllowedHosts(()))
    history: "_history.History | NoHistory" = field(default_factory=NoHistory)
    secrets: SecretKeeper = field(default_factory=_keep_none)
    results: ResultMemory = field(default_factory=lambda: ResultMemory(16 * 1024 * 1024))
    documents: OpenAPIDocuments = field(default_factory=OpenAPIDocuments)
    vector_stores: "_stores.VectorStores | None" = None
    workspaces: Workspaces = field(default_factory=lambda: Workspaces(Path(".sidecall/workspaces")))

    @property
    def trouble(self) -> str | None:
        """Why durable storage is unavailable; None when it works."""
        return self.operation.ledger.trouble

    @property
    def rules(self) -> ApprovalRules:
        """The store of rules."""
        return self.operation.ledger.rules

    @property
    def auditor(self) -> Auditor:
        """The audit log."""
        return self.secrets.auditor

    def run(self, request: CallRequest) -> Awaitable[ToolMessage]:
        """Run a call of a batch; with an idempotent tool an equal call runs once."""
        tool = self.find_known_again(request.call.name)
        return self.pipeline.run(request) if tool is None else self.jobs.run(request, tool)

    def find_known_again(self, name: str) -> CompiledTool | None:
        """Return the tool of this name, if it is idempotent by its calls' ids."""
        tool = self.registry.get(name)
        return None if tool is None or tool.options.idempotency is None else tool

    def add_tags(self, entry: CallEntry) -> CallEntry:
        """Add the tool's current tags to a call, if those of its time are not stored."""
        tool = self.registry.get(entry.name) if entry.tags is None else None
        return entry if tool is None else entry.model_copy(update={"tags": tuple(tool.options.tags)})


async def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


PartsDep = Annotated[Parts, Depends(_parts)]


async def _caller(request: Request) -> Caller:
    return caller_of(request.scope)


CallerDep = Annotated[Caller, Depends(_caller)]


async def _context(request: Request, deadline: DeadlineDep) -> RequestContext:
    context = make_context(request.scope, request.receive, deadline)
    context.pinned = read_pins(request.headers)
    return context


ContextDep = Annotated[RequestContext, Depends(_context)]


async def _call_context(context: ContextDep) -> RequestContext:
    require_conversation(context.headers, {})
    return context


# The same, of a request with calls.
CallContextDep = Annotated[RequestContext, Depends(_call_context)]
