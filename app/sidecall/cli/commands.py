"""The commands of `sidecall`."""

import gc
from collections.abc import Iterator, Mapping, MutableMapping
from copy import copy
from functools import cache
from importlib.metadata import entry_points
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from sidecall.kernel.core.errors import SidecallError
from sidecall.lazy_imports import Later, load_function
from sidecall.loading.modules.loading import add_project
from sidecall.version import __version__


class Command(NamedTuple):
    """Where a command is, as `package.module:function` or `package.module:typer_app`, and what it does.

    `extra` is what has to be installed for it.
    """

    place: str
    text: str
    extra: str | None = None


class MissingExtra(SidecallError):
    """What a command needs is not installed."""


# In the order in which they are listed.
COMMANDS: Mapping[str, Command] = {
    "serve": Command(
        "sidecall.cli.serve:serve",
        "Serve the tools over HTTP.",
    ),
    "worker": Command(
        "sidecall.cli.worker:worker",
        "Run tools for servers that name the same bus in SIDECALL_FLEET, until a signal.",
        extra="fleet",
    ),
    "fleet": Command(
        "sidecall.features.fleet.cli:fleet",
        "Print who is on the bus that SIDECALL_FLEET names: workers with their queues, and servers with their calls.",
        extra="fleet",
    ),
    "mcp": Command(
        "sidecall.features.mcp_server.cli:mcp",
        "Serve the tools over MCP to the program that starts this one, through its pipes (stdio).",
    ),
    "tools": Command(
        "sidecall.cli.tools:tools",
        "List the tools as a table, or as JSON for a provider.",
    ),
    "stages": Command(
        "sidecall.cli.tools:stages",
        "Print the steps of a tool's calls in their order, and the steps of calls that fail.",
    ),
    "toolkits": Command(
        "sidecall.features.toolkits.cli:toolkits",
        "List the toolkits that ship: whether they are on, what may go wrong with them, and what they lack here.",
    ),
    "call": Command(
        "sidecall.cli.call:call",
        "Run one tool and print its ToolMessage; exit code 1 when its status is error.",
    ),
    "agent": Command(
        "sidecall.features.remote_agents.cli:agent",
        "Ask an agent elsewhere, and print its answer; what it asks a person it asks here.",
    ),
    "settings": Command(
        "sidecall.cli.settings:settings",
        "Print every setting, what it is and where that comes from; exit code 1 where no server would start with them.",
    ),
    "reload": Command(
        "sidecall.features.reload.cli:reload",
        "Have a running server load tools, toolsets and MCP servers again; where one is broken, nothing changes.",
    ),
    "status": Command(
        "sidecall.features.status.cli:status",
        "Print how a running server is: its store, its queues, and what has failed in the last two hours.",
    ),
    "audit": Command(
        "sidecall.features.audit.cli:audit",
        "List who has decided what on a running server, and who was refused, latest first.",
    ),
    "new": Command(
        "sidecall.cli.new:new",
        "Write a tool file with its test.",
    ),
    "check": Command(
        "sidecall.cli.check:check",
        "Check every tool for missing descriptions, types a provider refuses, names too alike and what stops the"
        " start.",
    ),
    "lock": Command(
        "sidecall.features.contract.cli:lock",
        "Write `tools.lock`: the name, hash, description and parameters of each tool, which calls may be pinned to.",
    ),
    "openapi": Command(
        "sidecall.features.openapi_export.cli:openapi",
        "Print the OpenAPI document of the server with all routes, which does not depend on its tools.",
    ),
    "mcp-servers": Command(
        "sidecall.features.mcp_server.cli:mcp_servers",
        "See which tools of other MCP servers have changed, and accept them (SIDECALL_MCP_PIN).",
    ),
    "calls": Command(
        "sidecall.features.calls.cli:calls",
        "Ask a running server for calls that it remembers; alone it lists them, newest first.",
    ),
    "approvals": Command(
        "sidecall.features.approvals.cli:approvals",
        "Decide about calls that wait for a person; alone it lists them, oldest first.",
    ),
    "workspace": Command(
        "sidecall.features.workspaces.cli:workspace",
        "See, fetch, send and delete the files of a conversation.",
    ),
    "keys": Command(
        "sidecall.features.access.cli:keys",
        "Make, list and revoke keys of callers; of each the file has a hash only.",
    ),
}


# In which installed packages name their features.
_GROUP = "sidecall.features"
# With which all of them come.
features = Later("sidecall.composition.features")


@cache
def list_commands() -> Mapping[str, str]:
    """Return where each command is, in the order in which they are listed: those of installed features come last."""
    found = {name: command.place for name, command in COMMANDS.items()}
    if entry_points(group=_GROUP):
        for feature in features.load_features(use_entry_points=True):
            found |= feature.commands
    return found


class Commands(TyperGroup):
    """The group of all commands, each loaded on demand."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.commands = _Loaded()

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help with the line of each command, for which those of this package need not be loaded."""
        lines, shown = {name: TyperCommand(name, help=it.text) for name, it in COMMANDS.items()}, copy(self)
        shown.commands = {name: lines.get(name) or self.commands[name] for name in self.commands}
        super(Commands, shown).format_help(ctx, formatter)


class _Loaded(MutableMapping[str, Any]):
    """A command that is made when it is looked up."""

    def __init__(self) -> None:
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _make(name, _load(name))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(list_commands())

    def __len__(self) -> int:
        return len(list_commands())

    def __setitem__(self, name: str, command: Any) -> None:
        self._made[name] = command

    def __delitem__(self, name: str) -> None:
        del self._made[name]


def _load(name: str) -> Any:
    own = COMMANDS.get(name)
    place = list_commands()[name] if own is None else own.place
    try:
        return load_function(place)
    except ModuleNotFoundError as error:
        if own is None or own.extra is None:
            raise
        raise MissingExtra(f"`sidecall {name}` needs an extra: pip install 'sidecall[{own.extra}]' ({error})") from None


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
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    add_project()
