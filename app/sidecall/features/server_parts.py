"""What the routes of features work with, beside what those of the kernel have."""

from collections.abc import Awaitable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import Depends

from sidecall.features.approvals.stores import ApprovalRules, Approvals
from sidecall.features.audit.auditor import Auditor
from sidecall.features.audit.stores import MemoryAudit
from sidecall.features.contents.snippets import SnippetReader
from sidecall.features.credentials.own_secrets import SecretKeeper
from sidecall.features.credentials.stores import MemorySecrets
from sidecall.features.history.no_history import NoHistory
from sidecall.features.jobs.jobs import Jobs
from sidecall.features.openapi_import.feature import NoDocuments
from sidecall.features.status.operation import Operation
from sidecall.features.telemetry.metrics import Metrics
from sidecall.features.toolsets.toolsets import NO_TOOLSETS, Toolsets
from sidecall.features.webhooks.receivers import AllowedHosts
from sidecall.features.workspaces.workspaces import Workspaces
from sidecall.http.parameters import find_parts
from sidecall.kernel.core.context import Caller, Toolset
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.overload import StoreUnavailable
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.ports.call_entry import CallEntry
from sidecall.kernel.ports.contents import JSON, Contents
from sidecall.kernel.ports.secrets import SecretListing
from sidecall.kernel.ports.user_tokens import TokenListing
from sidecall.rest.parts import Parts as KernelParts

if TYPE_CHECKING:
    from sidecall.features.history import history as _history
    from sidecall.features.openapi_import import documents as _documents
    from sidecall.features.vector_stores import stores as _stores


def _audit_nothing() -> Auditor:
    return Auditor(MemoryAudit())


def _keep_none() -> SecretKeeper:
    return SecretKeeper(MemorySecrets(), None, _audit_nothing())


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts(KernelParts):
    """The parts of one server, joined in `sidecall.main`."""

    approvals: Approvals
    rules: ApprovalRules
    contents: Contents
    jobs: Jobs
    operation: Operation
    metrics: Metrics = field(default_factory=Metrics)
    toolsets: Toolsets = NO_TOOLSETS
    snippets: SnippetReader = field(default_factory=SnippetReader)
    receivers: AllowedHosts = field(default_factory=lambda: AllowedHosts(()))
    history: "_history.History | NoHistory" = field(default_factory=NoHistory)
    secrets: SecretKeeper = field(default_factory=_keep_none)
    auditor: Auditor = field(default_factory=_audit_nothing)
    documents: "_documents.OpenAPIDocuments | NoDocuments" = field(default_factory=NoDocuments)
    vector_stores: "_stores.VectorStores | None" = None
    workspaces: Workspaces = field(default_factory=lambda: Workspaces(Path(".sidecall/workspaces")))

    @property
    def outage(self) -> str | None:
        """Why durable storage is unavailable; None when it works."""
        return self.operation.ledger.trouble

    def require_callback(self, url: str) -> None:
        """Require that the end of a call may be told at this URL.

        Raises:
            CallbackRefused: It may not.
        """
        self.receivers.find(url)

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

    async def keep_content(self, body: bytes, caller: Caller) -> str | None:
        """Keep JSON for its caller and return its id; None where nothing is kept."""
        return await self.contents.keep(body, caller, JSON)

    def find_toolset(self, name: str) -> Toolset:
        """Return a toolset by its name.

        Raises:
            UnknownToolset: There is none.
        """
        return self.toolsets.find(name)

    async def list_secrets(self, caller: Caller) -> Collection[str] | None:
        """List the names of a caller's own secrets; None where the store cannot be read."""
        return await _list_own(self.secrets.list(caller))

    async def list_tokens(self, caller: Caller) -> Collection[str] | None:
        """List the providers at which a caller's person has signed in; None where that is not known."""
        signing_in = self.secrets.signing_in
        return None if signing_in is None else await _list_own(signing_in.tokens.list(caller))

    def find_readiness(self) -> dict[str, Any]:
        """Return what features say of a server that may take traffic, as members of `GET /readyz`."""
        upstream = self.operation.upstream
        servers = upstream.servers
        return {
            "missing": self.documents.missing or None,
            "load_errors": list(self.operation.list_load_errors()) or None,
            "workspaces": self.workspaces.trouble,
            "forgets": self.operation.forgets,
            "mcp_servers": {server.name: server.state for server in servers} if servers else None,
            "mcp_tools_waiting": sum(map(len, upstream.waiting.values())) if servers else None,
        }

    def note_refusal(self, error: RequestError, caller: Caller | None) -> None:
        """Audit that a request was refused before it reached a route."""
        self.auditor.deny(error, caller)


async def _list_own(listed: Awaitable[Sequence[SecretListing | TokenListing]]) -> frozenset[str] | None:
    try:
        return frozenset(it.name if isinstance(it, SecretListing) else it.provider for it in await listed)
    except StoreUnavailable:
        return None


PartsDep = Annotated[Parts, Depends(find_parts)]
