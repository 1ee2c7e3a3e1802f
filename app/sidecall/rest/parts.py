"""What the routes work with."""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from sidecall.auth.middleware import caller_of
from sidecall.core.approval import Approvals
from sidecall.core.contents import Contents
from sidecall.core.context import Caller
from sidecall.core.quota import Quota
from sidecall.http.body import Bounds
from sidecall.http.context import RequestContext, make_context
from sidecall.lifecycle import Lifecycle
from sidecall.pipeline.pipeline import Pipeline
from sidecall.pipeline.quotas import Quotas
from sidecall.registry import Registry
from sidecall.rest.deadline import DeadlineDep
from sidecall.rest.listing import Listings
from sidecall.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of one server, joined in `sidecall.main`; without `quotas` calls are not counted."""

    registry: Registry
    pipeline: Pipeline
    approvals: Approvals
    contents: Contents
    listings: Listings
    bounds: Bounds
    max_batch: int
    metrics: Metrics = field(default_factory=Metrics)
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    quotas: Quotas | None = None

    def quota_of(self, caller: Caller) -> Quota | None:
        """Return what a caller has left, where that is counted."""
        return None if self.quotas is None else self.quotas.left(caller)


async def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


PartsDep = Annotated[Parts, Depends(_parts)]


async def _caller(request: Request) -> Caller:
    return caller_of(request.scope)


CallerDep = Annotated[Caller, Depends(_caller)]


async def _context(request: Request, deadline: DeadlineDep) -> RequestContext:
    return make_context(request.scope, request.receive, deadline)


ContextDep = Annotated[RequestContext, Depends(_context)]
