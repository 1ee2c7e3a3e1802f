"""Answer the probes of orchestrators in front of the framework, even where nothing can be loaded any more."""

from collections.abc import Awaitable
from typing import Any

from pydantic_core import to_json
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope

from sidecall.http.authentication import Access
from sidecall.http.changed_installation import INSTALLATION
from sidecall.http.fast_path import Reply, Shortcut
from sidecall.http.problems import MEDIA_TYPE, problem
from sidecall.kernel.core.context import Caller
from sidecall.kernel.core.errors import RequestError
from sidecall.kernel.core.scopes import OPERATE
from sidecall.kernel.ports.sandbox_status import list_refused, show_sandbox
from sidecall.rest.parts import Parts


def make_probes(parts: Parts) -> dict[str, Shortcut]:
    """Make the shortcuts of both, by path."""
    healthy = Reply(b'{"status":"ok"}')

    def check_health(scope: Scope, _receive: Receive) -> Reply | None:
        return healthy if scope["method"] == "GET" else None

    def check_readiness(scope: Scope, _receive: Receive) -> Awaitable[Reply] | None:
        return _answer_ready(parts, scope) if scope["method"] == "GET" else None

    return {"/healthz": check_health, "/readyz": check_readiness}


async def _answer_ready(parts: Parts, scope: Scope) -> Reply:
    refused = refuse_traffic(parts, Request(scope))
    if refused is not None:
        return Reply(bytes(refused.body), refused.status_code, media_type=MEDIA_TYPE)
    return Reply(to_json(await find_readiness(parts, scope), exclude_none=True))


def refuse_traffic(parts: Parts, request: Request) -> Response | None:
    """Make the answer of a server that wants no traffic; None where it does."""
    refusal = _find_refusal(parts)
    if refusal is None:
        return None
    phase = parts.lifecycle.phase
    return problem(request, 503, "not-ready", "The server wants no traffic now.", refusal, phase=phase)


async def find_readiness(parts: Parts, scope: Scope) -> dict[str, Any]:
    """Return what a server that may take traffic tells this caller."""
    uses = [tool.sandbox_use for tool in parts.registry if tool.sandbox_use is not None]
    use = None if not uses else "python" if "python" in uses else uses[0]
    sandbox = await show_sandbox(parts.pipeline.services.resources.sandbox, use)
    refused = await list_refused(parts.pipeline.services.resources.sandbox, parts.registry) or None
    if not await _may_know(scope):
        return {"status": "ready"}
    told = {"tools": len(parts.registry), **parts.find_readiness(), "sandbox": sandbox, "refused": refused}
    return {"status": "ready", **{name: value for name, value in told.items() if value is not None}}


def _find_refusal(parts: Parts) -> str | None:
    """Return why it wants no traffic; None where it does."""
    lifecycle = parts.lifecycle
    if lifecycle.failure is not None:
        return f"The server has to be started again. {lifecycle.failure}"
    if lifecycle.phase != "ready":
        others = max(0, len(lifecycle.in_flight) - 1)
        return f"It is {lifecycle.phase}; other requests in flight: {others}."
    if INSTALLATION.trouble is not None:
        return INSTALLATION.trouble
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
