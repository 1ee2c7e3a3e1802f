"""sidecall openapi: write the OpenAPI document."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from sidecall.kernel.registry import Registry
from sidecall.rest.examples import BATCH, CALLS
from sidecall.terminal.options import make_server, read_settings


def openapi(
    output: Annotated[
        Path | None, typer.Option(help="Write to this file, and example requests into `examples/` next to it.")
    ] = None,
) -> None:
    """Print the OpenAPI document of the server with all routes, which does not depend on its tools."""
    document = _write_text(make_server(read_settings(toolkits=["file_search"]), Registry()).openapi())
    if output is None:
        typer.echo(document, nl=False)
        return
    folder = output.parent / "examples"
    folder.mkdir(parents=True, exist_ok=True)
    output.write_text(document)
    for prefix, examples in (("call", CALLS), ("batch", BATCH)):
        for name, example in examples.items():
            (folder / f"{prefix}-{name}.json").write_text(_write_text(example["value"]))


def _write_text(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"
