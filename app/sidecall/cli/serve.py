"""sidecall serve: run the server."""

import gc
import logging
import logging.config
import os
import signal
import socket
import sys
from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import typer
import uvicorn

from sidecall.cli.options import Tools, load_registry, read_settings
from sidecall.core.errors import InvalidToolOption, SidecallError
from sidecall.lifecycle import Lifecycle, Patience
from sidecall.main import create_app
from sidecall.registry import Registry
from sidecall.serving.connections import Connection
from sidecall.serving.leaving import leave_on
from sidecall.serving.open_files import room_for
from sidecall.serving.server import LAST_STEPS, Server
from sidecall.serving.supervisor import START_FAILED, Supervisor
from sidecall.settings import Settings, unknown_names
from sidecall.telemetry.logs import make_log_config

logger = logging.getLogger("sidecall")


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one. [default: 8000]")] = None,
    tools: Tools = None,
    workers: Annotated[int | None, typer.Option(help="Server processes. [default: 1]")] = None,
    reload: Annotated[bool | None, typer.Option("--reload", help="Load tools again when their files change.")] = None,
) -> None:
    """Serve the tools over HTTP."""
    leave_on(signal.SIGTERM)
    settings = read_settings(host=host, port=port, tools=tools, workers=workers, reload=reload)
    if settings.reload and settings.workers > 1:
        raise InvalidToolOption("--reload works with one worker; leave out --workers.")
    logging.config.dictConfig(_configure_logs(settings))
    for name in unknown_names(os.environ):
        logger.warning("%s is not a setting of this version and changes nothing", name)
    registry = load_registry(settings)
    logger.info("serving %d tools: %s", len(registry), ", ".join(registry.names) or "none")
    if settings.port:
        logger.info("try http://%s:%s/docs", settings.host, settings.port)
    if settings.workers == 1:
        _serve(settings, registry)
    else:
        seconds = settings.drain_grace + settings.drain_timeout + LAST_STEPS
        raise typer.Exit(
            Supervisor(settings.workers, partial(_serve_in_worker, settings), _listen(settings), seconds).run()
        )


def _listen(settings: Settings) -> socket.socket:
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=2048)
    except OSError as error:
        logger.error("%s", error)
        sys.exit(START_FAILED)


def _serve_in_worker(settings: Settings, sock: socket.socket, on_started: Callable[[], None]) -> None:
    """Serve in a worker process, which loads the tools for itself."""
    leave_on(signal.SIGTERM, signal.SIGINT)
    logging.config.dictConfig(_configure_logs(settings))
    try:
        _serve(settings, load_registry(settings), sock, on_started)
    except SidecallError as error:
        logger.error("%s", error.message)
        sys.exit(START_FAILED)


def _serve(
    settings: Settings,
    registry: Registry,
    sock: socket.socket | None = None,
    on_started: Callable[[], None] | None = None,
) -> None:
    lifecycle = Lifecycle()
    config = _make_config(settings, create_app(settings, registry, lifecycle))
    _spare_the_collector()
    server = Server(config, lifecycle, _read_patience(settings), room_for(settings.max_connections), on_started)
    server.run([sock] if sock else None)
    if not server.started:
        sys.exit(START_FAILED)


def _spare_the_collector() -> None:
    """Keep Python's collector of cycles from walking through everything again and again.

    What is loaded by now stays, and thousands of waiting calls are no garbage; looking at all of them takes longer than
    serving them.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 5, 100)


def _make_config(settings: Settings, app: Any = None) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        host=settings.host,
        port=settings.port,
        http=Connection,
        ws="none",
        log_config=_configure_logs(settings),
        log_level=settings.log_level,
        access_log=settings.log_level == "debug",
        server_header=False,
        # Else a request that was sent ahead begins with what the tool of the one before it has set.
        reset_contextvars=True,
    )


def _read_patience(settings: Settings) -> Patience:
    return Patience(
        drain_grace=settings.drain_grace,
        drain_timeout=settings.drain_timeout,
        header_timeout=settings.header_timeout,
        body_timeout=settings.body_timeout,
        stuck_after=settings.stuck_after,
    )


def _configure_logs(settings: Settings) -> dict[str, Any]:
    """Log in one way, in worker processes too."""
    return make_log_config(settings.log_level, settings.log_format, settings.log_redact)
