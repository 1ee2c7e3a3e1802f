"""Tell orchestrators how the server is."""

from typing import Literal

from fastapi import APIRouter
from pydantic import BaseModel, Field

from app.api.parts import PartsDep

router = APIRouter(tags=["operations"])


class Health(BaseModel):
    """Say that the process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel):
    """Say that the server may take traffic."""

    status: Literal["ready"] = "ready"
    tools: int = Field(description="How many tools it offers.")


@router.get("/healthz", operation_id="get_health", summary="Is the process alive?")
async def get_health() -> Health:
    """Answer as long as the process can."""
    return Health()


@router.get("/readyz", operation_id="get_readiness", summary="May it take traffic?")
async def get_readiness(parts: PartsDep) -> Readiness:
    """Answer 200 once the tools are loaded."""
    return Readiness(tools=len(parts.registry))
