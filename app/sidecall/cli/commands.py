"""The commands of `sidecall`."""

from collections.abc import Iterator, MutableMapping
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from sidecall.later import Later
from sidecall.loading.modules import add_project
from sidecall.version import __version__

# Where each command is, in the order in which they are listed: a function, or the commands of a group.
PLACES = {
    "serve": ("sidecall.cli.serve", "serve"),
    "mcp": ("sidecall.features.mcp_server.cli", "mcp"),
    "tools": ("sidecall.cli.tools", "tools"),
    "stages": ("sidecall.cli.stages", "stages"),
    "toolkits": ("sidecall.features.toolkits.cli", "toolkits"),
    "call": ("sidecall.cli.call", "call"),
    "agent": ("sidecall.features.remote_agents.cli", "agent"),
    "status": ("sidecall.features.status.cli", "status"),
    "audit": ("sidecall.features.audit.cli", "audit"),
    "new": ("sidecall.cli.new", "new"),
    "check": ("sidecall.cli.check", "check"),
    "lock": ("sidecall.features.contract.cli", "lock"),
    "openapi": ("sidecall.features.openapi_export.cli", "openapi"),
    "mcp-servers": ("sidecall.features.mcp_server.cli", "mcp_servers"),
    "calls": ("sidecall.features.calls.cli", "calls"),
    "approvals": ("sidecall.features.approvals.cli", "approvals"),
    "workspace": ("sidecall.features.workspaces.cli", "workspace"),
    "keys": ("sidecall.features.access.cli", "keys"),
}


class Commands(TyperGroup):
    """The group of all commands, each loaded on demand."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Loaded()


class _Loaded(MutableMapping[str, Any]):
    """A command that is made when it is looked up."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            module, offered = PLACES[name]
            self._made[name] = _make(name, getattr(Later(module), offered))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(PLACES)

    def __len__(self) -> int:
        return len(PLACES)

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]


def _make(name: str, offered: Any) -> Any:
    alone = typer.Typer(add_completion=False)
    if isinstance(offered, typer.Typer):
        alone.add_typer(offered, name=name)
    else:
        alone.command(name)(offered)
    return get_group(alone).commands[name]


cli = typer.Typer(
    name="sidecall",
    cls=Commands,
    help="Run the tools of AI agents behind plain HTTP.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)


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
    # After our own imports, those of the command included, which nothing of the project's is to come between.
    add_project()
