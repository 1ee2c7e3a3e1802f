"""sidecall serve: run the server."""

import logging
import logging.config
import os
from typing import Annotated, Any

import typer
import uvicorn
from uvicorn.config import LOGGING_CONFIG

from app.cli.options import Tools, registry_of, settings_with
from app.core.errors import InvalidToolOption
from app.main import create_app
from app.settings import Settings

logger = logging.getLogger("sidecall")


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one. [default: 8000]")] = None,
    tools: Tools = None,
    workers: Annotated[int | None, typer.Option(help="Server processes. [default: 1]")] = None,
    reload: Annotated[bool | None, typer.Option("--reload", help="Load tools again when their files change.")] = None,
) -> None:
    """Serve the tools over HTTP."""
    settings = settings_with(host=host, port=port, tools=tools, workers=workers, reload=reload)
    if settings.reload and settings.workers > 1:
        raise InvalidToolOption("--reload works with one worker; leave out --workers.")
    logging.config.dictConfig(_log_config(settings))
    registry = registry_of(settings)
    logger.info("serving %d tools: %s", len(registry), ", ".join(registry.names) or "none")
    if settings.port:
        logger.info("try http://%s:%s/docs", settings.host, settings.port)
    if settings.workers == 1:
        _run(settings, app=create_app(settings, registry))
    else:
        os.environ.update(_as_environment(settings))
        _run(settings, app="app.main:create_app")


def _run(settings: Settings, app: object) -> None:
    uvicorn.run(
        app,  # type: ignore[arg-type]  # uvicorn takes applications and import strings alike
        factory=isinstance(app, str),
        host=settings.host,
        port=settings.port,
        workers=settings.workers,
        log_config=_log_config(settings),
        log_level=settings.log_level,
        access_log=settings.log_level == "debug",
        server_header=False,
    )


def _as_environment(settings: Settings) -> dict[str, str]:
    """Hand the settings to worker processes, which read their own."""
    values = settings.model_dump()
    values["tools"] = ",".join(settings.tools)
    return {f"SIDECALL_{name.upper()}": str(value) for name, value in values.items()}


def _log_config(settings: Settings) -> dict[str, Any]:
    """Log like uvicorn does, in worker processes too."""
    level = settings.log_level.upper()
    ours = {"handlers": ["default"], "level": level, "propagate": False}
    return {**LOGGING_CONFIG, "loggers": {**LOGGING_CONFIG["loggers"], "sidecall": ours}}
