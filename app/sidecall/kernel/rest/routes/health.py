"""Probes for orchestrators."""

from collections.abc import Awaitable
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.types import Receive, Scope

from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.scopes import OPERATE
from sidecall.kernel.http.authentication import Access
from sidecall.kernel.http.fast_path import Reply, Shortcut
from sidecall.kernel.http.late_modules import LATE_MODULES
from sidecall.kernel.http.problems import Problem, problem
from sidecall.kernel.lifecycle import UpstreamState
from sidecall.kernel.ports.sandbox_status import SandboxStatus, list_refused, show_sandbox
from sidecall.kernel.rest.parts import Parts, PartsDep

# Built at the start: they answer, too, where no file can be opened any more.
router = APIRouter(tags=["operations"])


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
    refusal = _find_refusal(parts)
    if refusal is None:
        return await _find_readiness(parts, request.scope)
    phase = parts.lifecycle.phase
    return problem(request, 503, "not-ready", "The server wants no traffic now.", refusal, phase=phase)


def make_probes(parts: Parts) -> dict[str, Shortcut]:
    """Make the shortcuts of both, by path; a refusal is left to the framework."""
    healthy = Reply(b'{"status":"ok"}')

    def check_health(scope: Scope, _receive: Receive) -> Reply | None:
        return healthy if scope["method"] == "GET" else None

    def check_readiness(scope: Scope, _receive: Receive) -> Awaitable[Reply] | None:
        return _answer_ready(parts, scope) if scope["method"] == "GET" and _find_refusal(parts) is None else None

    return {"/healthz": check_health, "/readyz": check_readiness}


async def _answer_ready(parts: Parts, scope: Scope) -> Reply:
    return Reply(to_json(await _find_readiness(parts, scope), exclude_none=True))


async def _find_readiness(parts: Parts, scope: Scope) -> Readiness:
    """Return what a server that may take traffic tells this caller."""
    uses = [tool.sandbox_use for tool in parts.registry if tool.sandbox_use is not None]
    use = None if not uses else "python" if "python" in uses else uses[0]
    sandbox = await show_sandbox(parts.pipeline.services.resources.sandbox, use)
    refused = await list_refused(parts.pipeline.services.resources.sandbox, parts.registry) or None
    if not await _may_know(scope):
        return Readiness()
    return Readiness(
        tools=len(parts.registry),
        sandbox=sandbox,
        refused=refused,
        **parts.find_readiness(),
    )


def _find_refusal(parts: Parts) -> str | None:
    """Return why it wants no traffic; None where it does."""
    lifecycle = parts.lifecycle
    if lifecycle.failure is not None:
        return f"The server has to be started again. {lifecycle.failure}"
    if lifecycle.phase != "ready":
        others = max(0, len(lifecycle.in_flight) - 1)
        return f"It is {lifecycle.phase}; other requests in flight: {others}."
    if LATE_MODULES.trouble is not None:
        return LATE_MODULES.trouble
    return None if parts.outage is None else f"Its store cannot be used. {parts.outage}"


async def _may_know(scope: Scope) -> bool:
    """Return whether the caller may see tool details; true when authentication is off."""
    access: Access | None = scope["app"].state.access
    if access is None or not access.is_proved:
        return True
    try:
        found = access.authenticator.authenticate(scope)
        caller = found if isinstance(found, Caller) else await found
    except RequestError:
        return False
    return caller.may(OPERATE)
