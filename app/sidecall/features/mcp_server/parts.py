"""The parts that MCP methods use."""

from collections.abc import Awaitable
from dataclasses import dataclass, field

from sidecall.features.audit.auditor import Auditor
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.mcp_server.changes import ListChanges
from sidecall.features.mcp_server.listing import ToolPages
from sidecall.features.mcp_server.sessions import Sessions
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.http.backlog import Backlog
from sidecall.kernel.http.body import Bounds
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.stores import Approvals
from sidecall.kernel.ports.contents import Contents
from sidecall.kernel.registry import Registry


@dataclass(frozen=True, slots=True)
class McpParts:
    """The parts of one server, joined in `sidecall.main`.

    Without `jobs`, as in a process that serves one client, repeated calls are not recognized. Without `sessions`
    clients of earlier revisions have none.
    """

    registry: Registry
    pipeline: Pipeline
    approvals: Approvals
    contents: Contents
    pages: ToolPages
    changes: ListChanges
    results: ResultMemory
    bounds: Bounds
    jobs: Jobs | None = None
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    backlog: Backlog = field(default_factory=Backlog)
    auditor: Auditor | None = None
    sessions: Sessions | None = None

    def run(self, request: CallRequest) -> Awaitable[ToolMessage]:
        """Answer a call; one of a tool that identifies repeated calls runs once."""
        tool = self.registry.get(request.call.name)
        if self.jobs is None or tool is None or tool.options.idempotency is None:
            return self.pipeline.run(request)
        return self.jobs.run(request, tool)
