"""What the methods of MCP work with."""

from collections.abc import Awaitable
from dataclasses import field

from sidecall.auth.audit import Auditor
from sidecall.core.contents import Contents
from sidecall.core.decisions.places import Approvals
from sidecall.core.invocation import CallRequest
from sidecall.core.messages import ToolMessage
from sidecall.core.results.room import ResultRoom
from sidecall.dataclasses import dataclass
from sidecall.http.backlog import Backlog
from sidecall.http.body import Bounds
from sidecall.jobs.jobs import Jobs
from sidecall.lifecycle import Lifecycle
from sidecall.mcp.changes import ListChanges
from sidecall.mcp.listing import ToolPages
from sidecall.mcp.sessions import Sessions
from sidecall.pipeline.pipeline import Pipeline
from sidecall.registry import Registry


@dataclass(frozen=True, slots=True)
class McpParts:
    """The parts of one server, joined in `sidecall.main`.

    Without `jobs`, as in a process that serves one client, no call is known again. Without `sessions` no client of an
    earlier revision has one.
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
    auditor: Auditor | None = None
    sessions: Sessions | None = None

    def run(self, request: CallRequest) -> Awaitable[ToolMessage]:
        """Answer a call; that of a tool which knows its calls again runs once."""
        tool = self.registry.get(request.call.name)
        if self.jobs is None or tool is None or tool.options.idempotency is None:
            return self.pipeline.run(request)
        return self.jobs.run(request, tool)
