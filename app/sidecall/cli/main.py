"""The commands of `sidecall`, and how their errors look."""

import sys
from typing import Annotated

import typer
from pydantic import ValidationError
from rich.console import Console
from rich.markup import escape

from sidecall.cli import call, check, new, openapi, serve, tools
from sidecall.core.errors import SidecallError
from sidecall.loading import add_project
from sidecall.version import __version__

cli = typer.Typer(
    name="sidecall",
    help="Run the tools of AI agents behind plain HTTP.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
cli.command()(serve.serve)
cli.command()(tools.tools)
cli.command()(call.call)
cli.command()(new.new)
cli.command()(check.check)
cli.command()(openapi.openapi)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"sidecall {__version__}")
        raise typer.Exit


@cli.callback()
def options(
    version: Annotated[  # noqa: ARG001  its callback has done all
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Run the tools of AI agents behind plain HTTP."""
    # After our own imports, which nothing of the project's is to come between.
    add_project()


def main() -> None:
    """Run the program; what the author or operator has to mend is said in a sentence, with exit code 1."""
    try:
        cli()
    except SidecallError as error:
        _complain(error.message)
    except ValidationError as error:
        for item in error.errors():
            setting = "_".join(str(part) for part in item["loc"]).upper()
            _complain(f"setting SIDECALL_{setting}: {item['msg']}")
    sys.exit(1)


def _complain(message: str) -> None:
    Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {escape(message)}", highlight=False)
