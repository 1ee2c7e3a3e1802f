"""Options shared by several commands, and the tools that they say."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.kernel.registry import Registry
from sidecall.kernel.suggest.fuzzy_match import find_closest_names
from sidecall.lazy_imports import Provided
from sidecall.loading.discovery import discover
from sidecall.loading.skipped_tools import TakeOmission

Tools = Annotated[
    list[str] | None,
    typer.Option(
        "--tools",
        metavar="PLACE",
        help="Where tools are: a module, package, file or folder. Repeatable. "
        "[default: SIDECALL_TOOLS, else ./tools, else those that ship]",
    ),
]

AllowEmpty = Annotated[
    bool | None,
    typer.Option(
        "--allow-empty", help="Start though no tool would be offered. [default: SIDECALL_ALLOW_EMPTY, else no]"
    ),
]

Toolkits = Annotated[
    list[str] | None,
    typer.Option(
        "--toolkit",
        metavar="NAME",
        help="A toolkit to offer as well: see `sidecall toolkits`. Repeatable. [default: SIDECALL_TOOLKITS, else none]",
    ),
]


# These stand above features, whose commands need them too.
_settings, _server = Provided("settings"), Provided("server")


def read_settings(**given: Any) -> Any:
    """Read the settings of the server; non-empty command line options override the environment."""
    for name in ("tools", "toolkits"):
        given[name] = tuple(value for value in given.get(name) or () if value)
    return _settings.Settings(**{name: value for name, value in given.items() if value not in (None, "", ())})


def make_server(settings: Any, registry: Registry) -> Any:
    """Make the application of a server that offers these tools."""
    return _server.create_app(settings, registry)


def load_registry(settings: Any, tell: TakeOmission | None = None) -> Registry:
    """Load the tools of the settings; `tell` gets warnings about what is not offered."""
    registry = Registry(discover(settings.places, use_entry_points=settings.entry_points, tell=tell))
    registry.is_discovered = True
    return registry


class NothingOffered(SidecallError):
    """A server would offer no tool, now or later."""


def refuse_empty(settings: Any, tools: Iterable[CompiledTool]) -> None:
    """Check that there are tools, or may be: by --reload, MCP servers or OpenAPI documents.

    Raises:
        NothingOffered: Nothing is, and the settings do not allow that.
    """
    lack = None if settings.reload else explain_emptiness(settings, tools)
    if lack is not None:
        raise NothingOffered(f"{lack} To start all the same, give --allow-empty or set SIDECALL_ALLOW_EMPTY=true.")


def explain_emptiness(settings: Any, tools: Iterable[CompiledTool]) -> str | None:
    """Return why there are no tools; None if there are, may come from elsewhere, or none are wanted."""
    from_elsewhere = settings.mcp_servers is not None or settings.openapi or settings.openapi_services is not None
    found = list(tools)
    if settings.allow_empty or from_elsewhere or any(tool.options.is_enabled is not False for tool in found):
        return None
    places = ", ".join(settings.places)
    if found:
        return f"Nothing would be offered: all tools in {places} have is_enabled=False."
    return f"Nothing would be offered: there is no tool in {places}. A tool is a module-level function with @tool."


def write_count(number: int, noun: str) -> str:
    """Format a count with its noun, such as `1 tool` and `2 tools`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


class UnknownTool(SidecallError):
    """No tool has this name."""


def find_named(registry: Registry, name: str) -> CompiledTool:
    """Return the tool of this name.

    Raises:
        UnknownTool: There is none; the message has similar names.
    """
    tool = registry.get(name)
    if tool is None:
        alike = find_closest_names(name, registry.names)
        raise UnknownTool(f"there is no tool '{name}'" + (f"; did you mean {', '.join(alike)}?" if alike else ""))
    return tool
