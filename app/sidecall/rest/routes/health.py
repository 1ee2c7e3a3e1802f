"""Probes for orchestrators."""

from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field

from sidecall.http.parameters import LateRoute
from sidecall.http.problems import Problem
from sidecall.kernel.lifecycle import UpstreamState
from sidecall.kernel.ports.sandbox_status import SandboxStatus
from sidecall.rest.parts import PartsDep
from sidecall.rest.probes import find_readiness, refuse_traffic

# Nearly all requests for them are answered before they come to a route.
router = APIRouter(tags=["operations"], route_class=LateRoute)


class Health(BaseModel, defer_build=True):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Readiness(BaseModel, defer_build=True):
    """The server may take traffic.

    Where callers have to prove who they are, those with the scope `server:operate` are told more than that.
    """

    status: Literal["ready"] = "ready"
    tools: int | None = Field(default=None, description="How many tools it offers.")
    missing: dict[str, str] | None = Field(
        default=None,
        description="Which OpenAPI documents that the operator names could not be had yet, and why.",
    )
    mcp_servers: dict[str, UpstreamState] | None = Field(
        default=None,
        description="The MCP servers whose tools are offered too, where there are any; one that is down keeps nothing "
        "else from working.",
    )
    mcp_tools_waiting: int | None = Field(
        default=None, description="How many of their tools have changed and wait for an operator."
    )
    load_errors: list[str] | None = Field(
        default=None,
        description="Why the tools' files could not be loaded again when they last changed; the tools of before serve.",
    )
    sandbox: SandboxStatus | None = Field(
        default=None, description="The sandbox, as it was tried, where there are tools that need one."
    )
    refused: dict[str, str] | None = Field(
        default=None,
        description="Tools whose calls are refused because this machine has no sandbox that does for them, and why.",
    )
    forgets: str | None = Field(
        default=None,
        description="Why what has to be remembered is kept in memory and lost at the end, though nobody has asked for "
        "that with SIDECALL_STORE.",
    )
    workspaces: str | None = Field(
        default=None,
        description="Why files of conversations could not be written when some were last asked for; other calls go on.",
    )


@router.get("/healthz", operation_id="get_health", summary="Is the process alive?")
async def get_health() -> Health:
    """Answer as long as the process can.

    While a tool blocks the event loop nothing is answered, this neither; the log then has the tool's stack.
    """
    return Health()


@router.get(
    "/readyz",
    operation_id="get_readiness",
    summary="May it take traffic?",
    response_model=Readiness,
    response_model_exclude_none=True,
    responses={
        503: {
            "model": Problem,
            "description": "It starts, drains, its store is out of use, or its installation has changed.",
        }
    },
)
async def get_readiness(request: Request, parts: PartsDep) -> Readiness | Response:
    """Answer 200 once the tools are loaded, and 503 from the first signal to end on, or while its store is out of use.

    So it does where a part of it was asked for that cannot be loaded, since its installation was changed.
    Calls that come all the same are served as long as it listens, but for those that have to be remembered.
    """
    refused = refuse_traffic(parts, request)
    return Readiness(**await find_readiness(parts, request.scope)) if refused is None else refused
