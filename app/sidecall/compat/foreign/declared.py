"""Adopt declarations of the OpenAI Agents SDK, and name those that Sidecall cannot offer."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from sidecall.compat.foreign.hosted_tool import HostedTool
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.lazy_imports import load_function
from sidecall.loading.unsupported_imports import LOCAL_TOOLS

_PACKAGE = "agents"
# Where ours are, with the same names.
_OURS = "sidecall.compat.foreign.provider_tools"
_HOSTED = frozenset(
    (
        "WebSearchTool",
        "FileSearchTool",
        "HostedMCPTool",
        "CodeInterpreterTool",
        "ImageGenerationTool",
        "ToolSearchTool",
        "ProgrammaticToolCallingTool",
        "ShellTool",
    )
)
_NOT_OFFERED: Mapping[str, str] = {
    "Agent": "an agent runs models, which is the program's part; offer it as agent.as_tool(...)",
    "MCPServerStdio": "an MCP server is named in SIDECALL_MCP_SERVERS",
    "MCPServerSse": "an MCP server is named in SIDECALL_MCP_SERVERS",
    "MCPServerStreamableHttp": "an MCP server is named in SIDECALL_MCP_SERVERS",
    "Handoff": "agents are handed over in the program",
    **LOCAL_TOOLS,
}


def adopt_declaration(thing: Any) -> HostedTool | None:
    """Convert an SDK declaration to ours; None for others, and for a shell that is to run here."""
    name = _find_name(thing)
    if name not in _HOSTED or not is_dataclass(thing):
        return None
    kind: type[HostedTool] = load_function(f"{_OURS}:{name}")
    known = {field.name for field in fields(kind)}
    try:
        return kind(**{field.name: getattr(thing, field.name) for field in fields(thing) if field.name in known})
    except InvalidToolOption:
        return None


def explain_not_offered(thing: Any) -> str | None:
    """Return why an object of the SDK is not offered; None for others."""
    return _NOT_OFFERED.get(_find_name(thing))


def find_lost_options(thing: Any) -> tuple[str, ...]:
    """Name the options of a function tool that the server cannot honour."""
    return tuple(f"{name} {why}" for name, why in _LOST.items() if getattr(thing, name, None))


_LOST = {
    "custom_data_extractor": "is not called; return (content, artifact) with response_format='content_and_artifact'",
}


def _find_name(thing: Any) -> str:
    kind = type(thing)
    return kind.__name__ if kind.__module__.partition(".")[0] == _PACKAGE else ""
