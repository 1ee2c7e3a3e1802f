"""Join the routes, the explorer and the error answers into one FastAPI application."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial

from fastapi import FastAPI
from pydantic import BaseModel

from sidecall.auth.middleware import Authentication, Authenticator
from sidecall.core.approval import Decision
from sidecall.http import problems
from sidecall.http.application import Application, Wrapper
from sidecall.http.door import Door
from sidecall.http.head import HeadAsGet
from sidecall.http.request_id import RequestId, RequestIdHeader
from sidecall.rest import explorer, openapi
from sidecall.rest.parts import Parts
from sidecall.rest.routes import approvals, contents, health, metrics, tool_calls, tools
from sidecall.rest.shortcuts import make_shortcuts
from sidecall.rest.wire import AnthropicToolUse, LangChainToolCall, OpenAIToolCall, ResponsesFunctionCall
from sidecall.version import __version__

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_REQUEST_MODELS: list[type[BaseModel]] = [
    LangChainToolCall,
    OpenAIToolCall,
    ResponsesFunctionCall,
    AnthropicToolUse,
    Decision,
]
_OPEN = frozenset({"/healthz", "/readyz", "/metrics", "/", "/docs", "/openapi.json"})
_DESCRIPTION = """Run the tools of AI agents behind plain HTTP.

`GET /tools` lists them as your model's provider wants them; `POST /tool_calls` runs a call as the model wrote it and
answers with the message to give back. Press *Try it out* on either."""


def build_api(
    parts: Parts, lifespan: Lifespan | None = None, authenticator: Authenticator | None = None
) -> Application:
    """Build the application around parts that are ready; without an authenticator all are one caller."""
    app = Application(
        wrappers=_wrappers(authenticator),
        inner=[HeadAsGet, RequestIdHeader],
        door=partial(Door, shortcuts=make_shortcuts(parts)),
        title="Sidecall",
        version=__version__,
        summary="A ToolCall goes in, a ToolMessage comes out.",
        description=_DESCRIPTION,
        license_info={"name": "MIT", "identifier": "MIT"},
        openapi_tags=[
            {"name": "tools", "description": "What can be called."},
            {"name": "tool calls", "description": "Calling it."},
            {"name": "approvals", "description": "Deciding about it."},
            {"name": "operations", "description": "For orchestrators."},
        ],
        docs_url=None,
        redoc_url=None,
        swagger_ui_oauth2_redirect_url=None,
        lifespan=lifespan,
        # Its spans of requests would be missing on the short way that most calls take; calls have spans of their own.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.parts = parts
    for routes in (tools, tool_calls, contents, approvals, health, metrics):
        app.include_router(routes.router)
    explorer.install(app)
    problems.install(app)
    openapi.install(app, _REQUEST_MODELS)
    return app


def _wrappers(authenticator: Authenticator | None) -> list[Wrapper]:
    """List what every request passes through, from the outside in."""
    wrappers: list[Wrapper] = [RequestId]
    if authenticator is not None:
        wrappers.append(partial(Authentication, authenticator=authenticator, refuse=problems.refuse, is_open=_is_open))
    return wrappers


def _is_open(path: str) -> bool:
    """Return whether a path is for everybody: what orchestrators probe, and the page that explains the API."""
    return path in _OPEN or path.startswith(explorer.ASSETS)
