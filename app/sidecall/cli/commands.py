"""The commands of `sidecall`."""

from collections.abc import Iterator, Mapping, MutableMapping
from functools import cache
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_group

from sidecall.composition.features import load_features
from sidecall.kernel.modules.loading import add_project
from sidecall.later import Later
from sidecall.version import __version__

# Those of the kernel, and where each is: a function, or the commands of a group.
_KERNEL = {
    "serve": "sidecall.cli.serve:serve",
    "worker": "sidecall.cli.worker:worker",
    "tools": "sidecall.cli.tools:tools",
    "stages": "sidecall.cli.tools:stages",
    "call": "sidecall.cli.call:call",
    "new": "sidecall.cli.new:new",
    "check": "sidecall.cli.check:check",
    "settings": "sidecall.cli.settings:settings",
}
# The order in which commands are listed; those of installed features come last.
_ORDER = (
    "serve worker fleet mcp tools stages toolkits call agent settings reload status audit new check lock openapi"
    " mcp-servers calls approvals workspace keys".split()
)


@cache
def list_commands() -> Mapping[str, str]:
    """Return where each command is, those of features too, in the order in which they are listed."""
    found = dict(_KERNEL)
    for feature in load_features(use_entry_points=True):
        found |= feature.commands
    return dict(sorted(found.items(), key=lambda it: _ORDER.index(it[0]) if it[0] in _ORDER else len(_ORDER)))


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
            module, _, offered = self._find(name).partition(":")
            self._made[name] = _make(name, getattr(Later(module), offered))
        return self._made[name]

    @staticmethod
    def _find(name: str) -> str:
        return _KERNEL[name] if name in _KERNEL else list_commands()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(list_commands())

    def __len__(self) -> int:
        return len(list_commands())

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
