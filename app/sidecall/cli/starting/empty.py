"""Refuse to start a server without tools."""

from collections.abc import Iterable

from sidecall.kernel.core.errors import SidecallError
from sidecall.kernel.core.tool import CompiledTool
from sidecall.settings import Settings


class NothingOffered(SidecallError):
    """A server would offer no tool, now or later."""


def refuse_empty(settings: Settings, tools: Iterable[CompiledTool]) -> None:
    """Check that there are tools, or may be: by --reload, MCP servers or OpenAPI documents.

    Raises:
        NothingOffered: Nothing is, and the settings do not allow that.
    """
    lack = None if settings.reload else explain_emptiness(settings, tools)
    if lack is not None:
        raise NothingOffered(f"{lack} To start all the same, give --allow-empty or set SIDECALL_ALLOW_EMPTY=true.")


def explain_emptiness(settings: Settings, tools: Iterable[CompiledTool]) -> str | None:
    """Return why there are no tools; None if there are, may come from elsewhere, or none are wanted."""
    from_elsewhere = settings.mcp_servers is not None or settings.openapi or settings.openapi_services is not None
    found = list(tools)
    if settings.allow_empty or from_elsewhere or any(tool.options.is_enabled is not False for tool in found):
        return None
    places = ", ".join(settings.places)
    if found:
        return f"Nothing would be offered: all tools in {places} have is_enabled=False."
    return f"Nothing would be offered: there is no tool in {places}. A tool is a module-level function with @tool."
