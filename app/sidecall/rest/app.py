"""Join the routes, the explorer and the error answers into one FastAPI application."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial

from fastapi import FastAPI
from pydantic import BaseModel

from sidecall.auth.access import Access
from sidecall.auth.browser import PageRule, Welcome
from sidecall.auth.hosts import OwnHosts
from sidecall.auth.middleware import Authentication, permit_all
from sidecall.auth.resource import WELL_KNOWN
from sidecall.http import problems
from sidecall.http.application import Application, Wrapper
from sidecall.http.cors import share_with
from sidecall.http.door import Door
from sidecall.http.head import HeadAsGet
from sidecall.http.request_id import RequestId, RequestIdHeader
from sidecall.rest import explorer, openapi
from sidecall.rest.examples import ANSWERS, APPROVAL
from sidecall.rest.parts import Parts
from sidecall.rest.routes import (
    approvals,
    calls,
    contents,
    health,
    metadata,
    metrics,
    replays,
    tool_calls,
    tools,
    whoami,
)
from sidecall.rest.routes.permissions import permit
from sidecall.rest.security_schemes import add_security
from sidecall.rest.served import show_served
from sidecall.rest.shortcuts import make_shortcuts
from sidecall.rest.wire import (
    AnthropicToolUse,
    Batch,
    GeminiFunctionCallPart,
    LangChainToolCall,
    OpenAIToolCall,
    ResponsesFunctionCall,
)
from sidecall.version import __version__

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_REQUEST_MODELS: list[type[BaseModel]] = [
    LangChainToolCall,
    OpenAIToolCall,
    ResponsesFunctionCall,
    AnthropicToolUse,
    GeminiFunctionCallPart,
    Batch,
    approvals.ApprovalDecision,
    replays.ReplayWish,
]
_PROBES = frozenset({"/healthz", "/readyz"})
_OPEN = _PROBES | {"/", "/docs", "/openapi.json"}
_TAGS = {
    "tools": "What can be called.",
    "callers": "Who calls.",
    "tool calls": "Calling it.",
    "contents": "What was cut out of answers, and what was sent for tools.",
    "approvals": "Deciding about it.",
    "operations": "For orchestrators.",
}
_DESCRIPTION = """Run the tools of AI agents behind plain HTTP.

`GET /tools` lists them as your model's provider wants them; `POST /tool_calls` runs a call as the model wrote it and
answers with the message to give back. Press *Try it out* on either."""


def build_api(
    parts: Parts,
    lifespan: Lifespan | None = None,
    access: Access | None = None,
    welcome: Welcome | None = None,
) -> Application:
    """Build the application around parts that are ready.

    Args:
        parts: What the routes use.
        lifespan: Entered before anything is served.
        access: Knows the callers; without it all are one caller, who may do everything.
        welcome: Under which names it is served, and to which web pages; without it on loopback, to its own.
    """
    app = Application(
        wrappers=_wrappers(access, welcome or Welcome(OwnHosts("localhost"))),
        inner=[HeadAsGet, RequestIdHeader],
        door=partial(Door, shortcuts=make_shortcuts(parts)),
        title="Sidecall",
        version=__version__,
        summary="A ToolCall goes in, a ToolMessage comes out.",
        description=_DESCRIPTION,
        license_info={"name": "MIT", "identifier": "MIT"},
        openapi_tags=[{"name": name, "description": text} for name, text in _TAGS.items()],
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        lifespan=lifespan,
        # Its spans of requests would be missing on the short way that most calls take; calls have spans of their own.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.parts = parts
    app.state.access = access
    for routes in (tools, tool_calls, calls, replays, contents, approvals, whoami, metadata, health, metrics):
        # As they are: including a router builds every route of it again, at the first request.
        app.router.routes.extend(routes.router.routes)
    explorer.install(app)
    problems.install(app)
    is_proved = access is not None and access.is_proved
    secure = partial(add_security, is_open=_is_open, is_proved=is_proved)
    show = partial(show_served, registry=parts.registry)
    openapi.install(app, _REQUEST_MODELS, ANSWERS | APPROVAL, _PROBES, show, secure)
    return app


def _wrappers(access: Access | None, welcome: Welcome) -> list[Wrapper]:
    """List what every request passes through, from the outside in."""
    share, refuse = share_with(welcome.origins), problems.refuse
    rule = partial(PageRule, welcome=welcome, share=share, refuse=refuse, is_exempt=_PROBES.__contains__)
    wrappers: list[Wrapper] = [RequestId, rule]
    if access is not None:
        asked = partial(
            Authentication,
            access=access,
            refuse=refuse,
            is_open=_is_open if access.is_proved else _is_named_by_nobody,
            permit=permit if access.is_proved else permit_all,
        )
        wrappers.append(asked)
    return wrappers


def _is_open(path: str) -> bool:
    """Return whether a path is for everybody: what orchestrators probe, and the page that explains the API."""
    return path in _OPEN or path.startswith((explorer.ASSETS, WELL_KNOWN))


def _is_named_by_nobody(path: str) -> bool:
    """Return whether it does not matter who is named: that takes the metrics beside, where everybody may read them."""
    return path == "/metrics" or _is_open(path)
