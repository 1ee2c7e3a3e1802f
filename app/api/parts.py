"""What the routes work with."""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request
from starlette.datastructures import Headers

from app.api.body import Bounds
from app.api.listing import Listings
from app.auth.caller import Callers
from app.core.approval import Approvals
from app.core.context import ANONYMOUS, Caller
from app.core.quota import Quota
from app.lifecycle import Lifecycle
from app.pipeline.pipeline import Pipeline
from app.pipeline.quotas import Quotas
from app.registry import Registry
from app.stores.artifacts import MemoryArtifacts
from app.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Parts:
    """Hold the parts of one server, joined in `app.main`.

    Without `callers` all are one caller, without `quotas` their calls are not counted.
    """

    registry: Registry
    pipeline: Pipeline
    approvals: Approvals
    artifacts: MemoryArtifacts
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
