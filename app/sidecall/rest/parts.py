"""What the routes work with."""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import Headers

from sidecall.auth.caller import Callers
from sidecall.core.approval import Approvals
from sidecall.core.contents import Contents
from sidecall.core.context import ANONYMOUS, Caller
from sidecall.core.quota import Quota
from sidecall.http.body import Bounds
from sidecall.lifecycle import Lifecycle
from sidecall.pipeline.pipeline import Pipeline
from sidecall.pipeline.quotas import Quotas
from sidecall.registry import Registry
from sidecall.rest.listing import Listings
from sidecall.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Parts:
    """Hold the parts of one server, joined in `sidecall.main`.

    Without `callers` all are one caller, without `quotas` their calls are not counted.
    """

    registry: Registry
    pipeline: Pipeline
    approvals: Approvals
    contents: Contents
    listings: Listings
    bounds: Bounds
    max_batch: int
    metrics: Metrics = field(default_factory=Metrics)
    lifecycle: Lifecycle = field(default_factory=Lifecycle)
    callers: Callers | None = None
    quotas: Quotas | None = None

    def caller_of(self, headers: Headers) -> Caller:
        """Tell who sends a request.

        Raises:
            InvalidCaller: The header that says it does not name one caller.
        """
        return ANONYMOUS if self.callers is None else self.callers.of(headers)

    def quota_of(self, caller: Caller) -> Quota | None:
        """Tell what a caller has left, where that is counted."""
        return None if self.quotas is None else self.quotas.left(caller)


async def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


PartsDep = Annotated[Parts, Depends(_parts)]


async def _caller(request: Request, parts: PartsDep) -> Caller:
    return parts.caller_of(request.headers)


CallerDep = Annotated[Caller, Depends(_caller)]
