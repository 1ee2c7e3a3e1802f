"""The objects that routes work with."""

import asyncio
import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from fastapi import Depends, Query, Request

from sidecall.features.access.middleware import caller_of
from sidecall.features.audit.auditor import Auditor
from sidecall.features.audit.stores import MemoryAudit
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
from sidecall.kernel.concurrency.pools import LISTINGS
from sidecall.kernel.concurrency.turns import key_of
from sidecall.kernel.core.context import ANONYMOUS, Caller, Toolset
from sidecall.kernel.core.deadline import Deadline, allow_seconds
from sidecall.kernel.core.invocation import CallRequest
from sidecall.kernel.core.messages import ToolMessage
from sidecall.kernel.core.result_memory import ResultMemory
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.http.backlog import Backlog
from sidecall.kernel.http.body import Bounds
from sidecall.kernel.http.context import RequestContext, make_context
from sidecall.kernel.http.fast_path import Reply
from sidecall.kernel.http.parameters import DECIMAL_NUMBER
from sidecall.kernel.http.preferences import read_pins
from sidecall.kernel.lifecycle import Lifecycle
from sidecall.kernel.pipeline.batch import BatchThrottle
from sidecall.kernel.pipeline.pipeline import Pipeline
from sidecall.kernel.ports.approvals.stores import ApprovalRules, Approvals
from sidecall.kernel.ports.contents import Contents
from sidecall.kernel.ports.workspaces import require_conversation
from sidecall.kernel.registry import Registry

if TYPE_CHECKING:
    from sidecall.features.history import history as _history
    from sidecall.features.vector_stores import stores as _stores


# Different queries of one server are few. Beyond them the oldest goes, so that made-up queries cost others at
# most one rendering in so many requests of theirs.
_MOST = 64
# Tools whose listing is written at once; more of them, in strict form, would hold up the event loop.
_FEW = 100


@dataclass(frozen=True, slots=True)
class Listing:
    """An answer, its ETag, and the shorter answer for clients that have it already."""

    etag: str
    whole: Reply
    unchanged: Reply

    def reply_to(self, if_none_match: str | None) -> Reply:
        """Return the answer to a client with this `If-None-Match`."""
        return self.unchanged if has(if_none_match, self.etag) else self.whole


def make_listing(body: bytes, link: str | None = None) -> Listing:
    """Make a listing from bytes, with its ETag, and a link to the next page."""
    etag = f'"{hashlib.sha256(body + (link or "").encode()).hexdigest()[:32]}"'
    headers = {"ETag": etag, "Cache-Control": "no-cache", **({} if link is None else {"Link": link})}
    return Listing(etag, Reply(body, 200, headers), Reply(b"", 304, headers))


# The part of a caller that decides what it sees; None for a caller that sees everything.
Sight = tuple[frozenset[str], Toolset | None] | None


class Listings:
    """Caches answers by query and visible tools, until the registry changes.

    Nothing is cached while a tool is enabled per caller.
    """

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._version = registry.version
        self._known: dict[tuple[bytes, Sight], Listing] = {}
        self._making: dict[tuple[bytes, Sight, int], asyncio.Task[Listing]] = {}

    def find(self, query: bytes, caller: Caller | None = None) -> Listing | None:
        """Return the cached answer to this query; `caller` is None where callers are not told apart."""
        if self._version != self._registry.version:
            self._version = self._registry.version
            self._known = {}
        sight = None if caller is None else self._see(caller)
        return self._known.get((query, sight))

    async def make(
        self, query: bytes, version: int, count: int, write: Callable[[], Listing], caller: Caller = ANONYMOUS
    ) -> Listing:
        """Make and cache an answer; one about many tools is made in a thread, once for all concurrent requests.

        Raises:
            InvalidParameter: The query cannot be answered.
        """
        if count <= _FEW:
            listing = write()
        elif self._registry.is_conditional:
            listing = await LISTINGS.run_for(key_of(caller), write)
        else:
            listing = await self._join((query, self._see(caller), version), write)
        self.keep(query, listing, version, caller)
        return listing

    async def _join(self, wanted: tuple[bytes, Sight, int], write: Callable[[], Listing]) -> Listing:
        """Make it, or wait for the running one; it is finished even if its requesters disconnect."""
        making = self._making.get(wanted)
        if making is None:
            making = self._making[wanted] = asyncio.create_task(LISTINGS.run(write))
            making.add_done_callback(lambda _: self._making.pop(wanted))
        return await asyncio.shield(making)

    def keep(self, query: bytes, listing: Listing, version: int, caller: Caller = ANONYMOUS) -> None:
        """Cache it, if it is the same for all with these scopes and the registry has not changed."""
        is_fresh = version == self._version == self._registry.version
        if is_fresh and not self._registry.is_conditional:
            self._known[query, self._see(caller)] = listing
            if len(self._known) > _MOST:
                del self._known[next(iter(self._known))]

    def _see(self, caller: Caller) -> Sight:
        scopes = self._registry.scopes
        if caller is ANONYMOUS or (caller.toolset is None and caller.may(*scopes)):
            return None
        return scopes if caller.may(*scopes) else caller.scopes & scopes, caller.toolset


def has(if_none_match: str | None, etag: str) -> bool:
    """Return whether a client has this ETag, with weak comparison (RFC 9110 §13.1.2)."""
    known = [part.strip().removeprefix("W/") for part in (if_none_match or "").split(",")]
    return etag in known or "*" in known


_Timeout = Annotated[
    float | None,
    Query(
        alias="timeout",
        gt=0,
        allow_inf_nan=False,
        description="Seconds from now in which you want the answer. They shorten what the tool has, and never lengthen"
        " it; those spent waiting for a place count.",
    ),
    DECIMAL_NUMBER,
]


async def _deadline(seconds: _Timeout = None) -> Deadline | None:
    return None if seconds is None else allow_seconds(seconds)


# None where the client does not say how long it waits.
DeadlineDep = Annotated[Deadline | None, Depends(_deadline)]


def _keep_none() -> SecretKeeper:
    return SecretKeeper(MemorySecrets(), None, Auditor(MemoryAudit()))


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one server, joined in `sidecall.main`.

    `details` has what is shown of single tools, by their names; each application has its own.
    """

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
    details: Listings = field(default_factory=lambda: Listings(Registry()))
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
