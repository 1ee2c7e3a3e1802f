"""What the routes work with."""

from dataclasses import dataclass, field
from typing import Annotated

from fastapi import Depends, Request

from app.api.listing import Listings
from app.core.approval import Approvals
from app.lifecycle import Lifecycle
from app.pipeline.pipeline import Pipeline
from app.registry import Registry
from app.stores.artifacts import MemoryArtifacts
from app.telemetry.metrics import Metrics


@dataclass(frozen=True, slots=True)
class Parts:
    """Hold the parts of one server, joined in `app.main`."""

    registry: Registry
    pipeline: Pipeline
    approvals: Approvals
    artifacts: MemoryArtifacts
    listings: Listings
    max_body_bytes: int
    max_batch: int
    metrics: Metrics = field(default_factory=Metrics)
    lifecycle: Lifecycle = field(default_factory=Lifecycle)


async def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


PartsDep = Annotated[Parts, Depends(_parts)]
