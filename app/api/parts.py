"""What the routes work with."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request

from app.pipeline.pipeline import Pipeline
from app.registry import Registry


@dataclass(frozen=True, slots=True)
class Parts:
    """Hold the parts of one server, joined in `app.main`."""

    registry: Registry
    pipeline: Pipeline
    max_body_bytes: int
    max_batch: int


async def _parts(request: Request) -> Parts:
    parts: Parts = request.app.state.parts
    return parts


PartsDep = Annotated[Parts, Depends(_parts)]
