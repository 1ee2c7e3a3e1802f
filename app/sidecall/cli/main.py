"""The commands of `sidecall`, and how their errors look."""

import sys
from typing import Annotated

import typer
from pydantic import ValidationError
from pydantic_core import ErrorDetails
from rich.console import Console
from rich.markup import escape

from sidecall.cli import approvals, audit, call, calls, check, keys, mcp, new, openapi, serve, status, tools
from sidecall.cli.agents.talk import agent
from sidecall.cli.built_in import toolkits, workspace
from sidecall.cli.contract.lock import lock
from sidecall.cli.refusals import word_refusal
from sidecall.core.errors import SidecallError
from sidecall.loading import add_project
from sidecall.version import __version__

# Characters of a wrong value that are said back.
_MOST_OF_VALUE = 200
# Settings whose values are never said back.
_UNSHOWN = frozenset(("WEBHOOK_SECRET", "SECRETS_KEY"))

cli = typer.Typer(
    name="sidecall",
    help="Run the tools of AI agents behind plain HTTP.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
cli.command()(serve.serve)
cli.command()(mcp.mcp)
cli.add_typer(mcp.mcp_servers, name="mcp-servers")
cli.command()(tools.tools)
cli.command()(toolkits.toolkits)
cli.command()(call.call)
cli.command()(agent)
cli.add_typer(calls.calls, name="calls")
cli.command()(status.status)
cli.add_typer(approvals.approvals, name="approvals")
cli.add_typer(workspace.workspace, name="workspace")
cli.add_typer(keys.keys, name="keys")
cli.command()(audit.audit)
cli.command()(new.new)
cli.command()(check.check)
cli.command()(lock)
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
            _complain(_word(item))
    except (OSError, RuntimeError) as error:
        refusal = word_refusal(error)
        if refusal is None:
            raise
        _complain(refusal)
    sys.exit(1)


def _word(item: ErrorDetails) -> str:
    """Word which setting is wrong, why, and what was read, where unmeant quotes and spaces are seen."""
    # Where a setting has several values, what follows says which of them.
    setting = "".join(str(part) for part in item["loc"][:1]).upper()
    reason = str(item.get("ctx", {}).get("error", item["msg"]))
    if setting in _UNSHOWN:
        return f"setting SIDECALL_{setting}: {reason}"
    if not setting:  # It is about several, which it names.
        return reason
    return f"setting SIDECALL_{setting}: {reason}; it is {repr(item['input'])[:_MOST_OF_VALUE]}"


def _complain(message: str) -> None:
    Console(stderr=True, soft_wrap=True).print(f"[bold red]error:[/] {escape(message)}", highlight=False)
