"""sidecall serve: run the server."""

from typing import Annotated

import typer

from sidecall.cli import serving
from sidecall.terminal.options import AllowEmpty, Toolkits, Tools


def serve(
    host: Annotated[str | None, typer.Option(help="Address to listen on. [default: 127.0.0.1]")] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one. [default: 8000]")] = None,
    unix: Annotated[str | None, typer.Option(help="Unix socket to listen on, in place of host and port.")] = None,
    tls_cert: Annotated[str | None, typer.Option(help="Certificate (PEM) to serve HTTPS with.")] = None,
    tls_key: Annotated[str | None, typer.Option(help="Its private key (PEM).")] = None,
    tools: Tools = None,
    toolkits: Toolkits = None,
    workers: Annotated[int | None, typer.Option(help="Server processes. [default: 1]")] = None,
    reload: Annotated[bool | None, typer.Option("--reload", help="Load tools again when their files change.")] = None,
    allow_empty: AllowEmpty = None,
) -> None:
    """Serve the tools over HTTP."""
    given = {"host": host, "port": port, "unix": unix, "tools": tools, "toolkits": toolkits, "workers": workers}
    serving.serve(**given, tls_cert=tls_cert, tls_key=tls_key, reload=reload, allow_empty=allow_empty)
