"""What the methods of MCP work with."""

from collections.abc import Awaitable
from dataclasses import dataclass, field

from sidecall.auth.audit import Auditor
from sidecall.core.contents import Contents
from sidecall.core.context import Caller
from sidecall.core.decisions.places import Approvals
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolMessage
from sidecall.core.quota import Quota
from sidecall.core.results.room import ResultRoom
from sidecall.http.backlog import Backlog
from sidecall.http.body import Bounds
from sidecall.jobs.jobs import Jobs
from sidecall.lifecycle import Lifecycle
from sidecall.mcp.changes import ListChanges
from sidecall.mcp.listing import ToolPages
from sidecall.pipeline.pipeline import Pipeline
from sidecall.pipeline.quotas.in_memory import Quotas
from sidecall.registry import Registry
from sidecall.schema.forms.structures import Structures


@dataclass(frozen=True, slots=True)
class McpParts:
    """The parts of one server, joined in `sidecall.main`; without `quotas` calls are not counted.

    Without `jobs`, as in a process that serves one client, no call is known again.
    """

    registry: Registry
    pipeline: Pipeline
    approvals: Approvals
    contents: Contents
    pages: ToolPages
    changes: ListChanges
    results: ResultRoom
    bounds: Bounds
    jobs: Jobs | None = None
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    backlog: Backlog = field(default_factory=Backlog)
    quotas: Quotas | None = None
    structures: Structures = field(default_factory=Structures)
    auditor: Auditor | None = None

    def run(self, request: CallRequest) -> Awaitable[ToolMessage]:
        """Answer a call; that of a tool which knows its calls again runs once."""
        tool = self.registry.get(request.call.name)
        if self.jobs is None or tool is None or tool.options.idempotency is None:
            return self.pipeline.run(request)
        return self.jobs.run(request, tool)

    def quotas_of(self, caller: Caller, tool: str | None = None) -> tuple[Quota, ...]:
        """Return what a caller has left, where that is counted."""
        if self.quotas is None:
            return ()
        return self.quotas.left(caller, None if tool is None else self.registry.get(tool))
