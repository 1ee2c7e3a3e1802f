"""sidecall mcp: serve the tools to the program that starts this one; sidecall mcp-servers: accept those of others."""

import logging.config
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, BinaryIO

import typer
from rich.table import Table
from rich.text import Text

from sidecall.features.calls.cli_rows import clean
from sidecall.features.mcp_client.pins import PinFile, ToolsNotWaiting
from sidecall.features.mcp_server.stdio import PipeServer
from sidecall.features.telemetry.calls import make_log_config
from sidecall.kernel.concurrency.event_loop import run_main
from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.registry import Registry
from sidecall.terminal.console import make_console, print_json
from sidecall.terminal.options import (
    AllowEmpty,
    Toolkits,
    Tools,
    load_registry,
    make_server,
    read_settings,
    refuse_empty,
    write_count,
)

mcp_servers = typer.Typer(
    help="See which tools of other MCP servers have changed, and accept them (SIDECALL_MCP_PIN).", no_args_is_help=True
)

_InFile = Annotated[
    Path | None, typer.Option("--file", metavar="PATH", help="The file of pins. [default: SIDECALL_MCP_PINS_FILE]")
]

# Seconds to wait for upstream MCP servers before clients are answered.
_WAIT = 10.0


class NothingWaits(SidecallError):
    """No such tool waits to be accepted."""


def mcp(
    tools: Tools = None,
    toolkits: Toolkits = None,
    reload: Annotated[bool | None, typer.Option("--reload", help="Load tools again when their files change.")] = None,
    allow_empty: AllowEmpty = None,
) -> None:
    """Serve the tools over MCP to the program that starts this one, through its pipes (stdio)."""
    sink = _claim_output()
    settings = read_settings(tools=tools, toolkits=toolkits, reload=reload, allow_empty=allow_empty)
    logging.config.dictConfig(make_log_config(settings.log_level, settings.log_format, settings.log_redact))
    registry = load_registry(settings)
    refuse_empty(settings, registry)
    run_main(_serve(settings, registry, sink))


def _claim_output() -> BinaryIO:
    """Reserve the pipe to the client for answers: what tools print goes to stderr, in child processes too."""
    sys.stdout.flush()
    sink = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return sink


async def _serve(settings: Any, registry: Registry, sink: BinaryIO) -> None:
    app = make_server(settings, registry)
    async with app.router.lifespan_context(app):
        # Many clients list the tools once, so those of other servers should be there.
        await app.state.upstream.wait_until_tried(_WAIT)
        await PipeServer(app.state.mcp.parts, sys.stdin.buffer, sink).serve()


@mcp_servers.command(name="list")
def list_mcp_servers(
    file: _InFile = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """List the servers whose tools were accepted, and the tools that wait, with what they say of themselves."""
    pins = _open_pins(file).read()
    console = make_console()
    if as_json:
        print_json(pins.model_dump())
        return
    table = Table("server", "accepted", "waiting", "description", box=None, header_style="bold")
    for server in sorted(pins.accepted.keys() | pins.waiting.keys()):
        table.add_row(server, str(len(pins.accepted.get(server, ()))))
        for name in pins.waiting.get(server, {}):
            # A server's text must not move the cursor over the output here.
            shown = "\n".join(map(clean, pins.describe_change(server, name).split("\n")))
            table.add_row("", "", Text(clean(name), "yellow"), shown)
    console.print(table)


@mcp_servers.command()
def accept(
    server: Annotated[str, typer.Argument(help="Its name in the mcp.json.")],
    tools: Annotated[list[str] | None, typer.Argument(help="Names of its tools. [default: all that wait]")] = None,
    file: _InFile = None,
    schema_only: Annotated[
        bool, typer.Option("--schema-only", help="Let descriptions change; models go on to read the accepted ones.")
    ] = False,
) -> None:
    """Accept what tools of a server say now; a running server offers them within seconds."""
    taken: list[str] = []
    named = dict.fromkeys(tools) if tools else None
    try:
        _open_pins(file).change(lambda pins: taken.extend(pins.accept_all(server, named, schema_only=schema_only)))
    except ToolsNotWaiting as error:
        raise NothingWaits(_explain_absence(server, error.tools)) from None
    typer.echo(f"accepted {write_count(len(taken), 'tool')} of {server}: {', '.join(taken)}")


def _explain_absence(server: str, unknown: Sequence[str]) -> str:
    named = f" called {' or '.join(unknown)}" if unknown else ""
    return f"No tool of {server}{named} waits; `sidecall mcp-servers list` shows those that do."


def _open_pins(file: Path | None) -> PinFile:
    return PinFile(file or read_settings().mcp_pins_file)
