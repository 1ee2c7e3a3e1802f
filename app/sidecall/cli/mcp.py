"""sidecall mcp: serve the tools to the program that starts this one."""

import asyncio
import logging.config
import os
import sys
from typing import Annotated, BinaryIO

import typer

from sidecall.cli.options import Tools, load_registry, read_settings
from sidecall.main import create_app
from sidecall.mcp.pipes import PipeServer
from sidecall.registry import Registry
from sidecall.settings import Settings
from sidecall.telemetry.logs import make_log_config


def mcp(
    tools: Tools = None,
    reload: Annotated[bool | None, typer.Option("--reload", help="Load tools again when their files change.")] = None,
) -> None:
    """Serve the tools over MCP to the program that starts this one, through its pipes (stdio)."""
    sink = _claim_output()
    settings = read_settings(tools=tools, reload=reload)
    logging.config.dictConfig(make_log_config(settings.log_level, settings.log_format, settings.log_redact))
    asyncio.run(_serve(settings, load_registry(settings), sink))


def _claim_output() -> BinaryIO:
    """Keep the pipe to the client for answers alone: what tools print goes to stderr, in other processes too."""
    sys.stdout.flush()
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sink


async def _serve(settings: Settings, registry: Registry, sink: BinaryIO) -> None:
    app = create_app(settings, registry)
    async with app.router.lifespan_context(app):
        await PipeServer(app.state.mcp, sys.stdin.buffer, sink).serve()
