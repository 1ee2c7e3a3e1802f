"""Options that several commands share."""

from typing import Annotated, Any

import typer

from sidecall.discovery import discover
from sidecall.registry import Registry
from sidecall.settings import Settings

Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="PLACE",
        help="Where tools are: a module, package, file or folder. Repeatable. "
        "[default: SIDECALL_TOOLS, else ./tools, else those that ship]",
    ),
]


def read_settings(**given: Any) -> Settings:
    """Read the settings; what was given on the command line beats the environment."""
    chosen = {name: value for name, value in given.items() if value is not None}
    return Settings(**{**chosen, **({"tools": tuple(chosen["tools"])} if chosen.get("tools") else {})})


def load_registry(settings: Settings) -> Registry:
    """Load the tools that the settings name."""
    return Registry(discover(settings.tools, use_entry_points=settings.entry_points))
