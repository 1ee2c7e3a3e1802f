"""The command `sidecall notes`."""

from typing import Annotated

import httpx
import typer


def notes(url: Annotated[str, typer.Option(help="Where the server is.")] = "http://127.0.0.1:8000") -> None:
    """Print how often each tool of a running server was called."""
    counts = httpx.get(f"{url}/notes").raise_for_status().json()
    for name, count in sorted(counts.items()):
        typer.echo(f"{count:6}  {name}")
