"""Join the routes, the explorer and the error answers into one FastAPI application."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from fastapi import FastAPI
from pydantic import BaseModel

from app.api import explorer, openapi, problems
from app.api.door import Door, Sidecall
from app.api.middleware import RequestId
from app.api.parts import Parts
from app.api.routes import approvals, artifacts, health, metrics, tool_calls, tools
from app.api.wire import AnthropicToolUse, LangChainToolCall, OpenAIToolCall, ResponsesFunctionCall
from app.core.approval import Decision
from app.version import __version__

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]

_REQUEST_MODELS: list[type[BaseModel]] = [
    LangChainToolCall,
    OpenAIToolCall,
    ResponsesFunctionCall,
    AnthropicToolUse,
    Decision,
]
_DESCRIPTION = """Run the tools of AI agents behind plain HTTP.

`GET /tools` lists them as your model's provider wants them; `POST /tool_calls` runs a call as the model wrote it and
answers with the message to give back. Press *Try it out* on either."""


def build_api(parts: Parts, lifespan: Lifespan | None = None) -> FastAPI:
    """Build the application around parts that are ready."""
    app = Sidecall(
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
    app.door = Door(parts)
    for routes in (tools, tool_calls, artifacts, approvals, health, metrics):
        app.include_router(routes.router)
    explorer.install(app)
    problems.install(app)
    openapi.install(app, _REQUEST_MODELS)
    app.add_middleware(RequestId)
    return app
