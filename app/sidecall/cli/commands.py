"""The commands of `sidecall`."""

import gc
from collections.abc import Iterator, Mapping, MutableMapping
from copy import copy
from functools import cache
from importlib.metadata import entry_points
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from sidecall.cli.overview import COMMANDS
from sidecall.kernel.modules.loading import add_project
from sidecall.later import Later
from sidecall.version import __version__

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
            module, _, offered = self._find(name).partition(":")
            self._made[name] = _make(name, getattr(Later(module), offered))
        return self._made[name]

    @staticmethod
    def _find(name: str) -> str:
        return COMMANDS[name].place if name in COMMANDS else list_commands()[name]

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
    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    add_project()
