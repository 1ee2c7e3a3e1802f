"""Libraries of tools: their classes, what reads those that are taken over, and what to write in place of others."""

import re
from collections.abc import Mapping
from types import FunctionType
from typing import Any, Literal

from msgspec import Struct


class Role(Struct, frozen=True):
    """The role of a class: a tool, a group of tools, an MCP client, or a model runner.

    `function` is the attribute with the plain function, empty if the object is callable, None if it is not accessible;
    `each` returns the tools of a group. Tools and groups with a `reader`, a module of `frameworks/` and a name in it,
    are taken over.
    """

    kind: Literal["tool", "group", "server", "agent"]
    function: str | None = None
    each: str = "{it}"
    reader: str = ""

    @property
    def is_method(self) -> bool:
        """Whether the function is a method of the same name in each tool."""
        return self.function in ("forward", "_run")


class Library(Struct, frozen=True):
    """A library: its name, the package of its classes, and their roles."""

    title: str
    package: str
    roles: Mapping[str, Role]

    def holds(self, module: str) -> bool:
        """Return whether a module belongs to this library."""
        return f"{module}.".startswith(f"{self.package}.")


_TOOL, _GROUP, _SERVER, _AGENT = Role("tool"), Role("group"), Role("server"), Role("agent")
_FUNCTIONS = Role("group", "entrypoint", "{it}.functions.values()")


def _read(library: str, package: str, reader: str, **roles: Literal["tool", "group", "agent"]) -> Library:
    """Describe a library whose tools and groups one reader reads."""
    readers = {"tool": reader, "group": reader, "agent": ""}
    return Library(library, package, {name: Role(kind, reader=readers[kind]) for name, kind in roles.items()})


_TABLE = (
    _read("ADK", "google.adk", "google_adk.READER", BaseTool="tool", BaseToolset="group"),
    _read("Strands", "strands", "strands.READER", AgentTool="tool", ToolProvider="group"),
    _read("agno", "agno", "agno.READER", Function="tool", Toolkit="group", Team="agent"),
    _read("AutoGen", "autogen_core", "microsoft.AUTOGEN", BaseTool="tool", Workbench="group"),
    Library("AutoGen", "autogen_ext", {}),
    Library("AutoGen", "autogen_agentchat", {}),
    _read("Agent Framework", "agent_framework", "microsoft.AGENT_FRAMEWORK", FunctionTool="tool"),
    _read("Haystack", "haystack", "haystack.READER", Tool="tool", Toolset="group"),
    Library("Haystack", "haystack_integrations", {}),
    _read("LlamaIndex", "llama_index", "llama_index.READER", BaseTool="tool", BaseToolSpec="group"),
    _read(
        "Semantic Kernel",
        "semantic_kernel",
        "semantic_kernel.READER",
        KernelFunction="tool",
        KernelPlugin="group",
        Kernel="group",
    ),
    _read("CrewAI", "crewai", "other_frameworks.CREWAI", BaseTool="tool", CrewStructuredTool="tool", Crew="agent"),
    Library("CrewAI", "crewai_tools", {}),
    Library("MCP", "mcpadapt", {}),
    _read("smolagents", "smolagents", "other_frameworks.SMOLAGENTS", Tool="tool", ToolCollection="group"),
    _read("DSPy", "dspy", "other_frameworks.DSPY", Tool="tool", Module="agent"),
    _read("CAMEL", "camel", "other_frameworks.CAMEL", FunctionTool="tool", BaseToolkit="group"),
    _read("BeeAI", "beeai_framework", "other_frameworks.BEEAI", Tool="tool"),
    Library("phidata", "phi", {"Function": Role("tool", "entrypoint"), "Toolkit": _FUNCTIONS}),
    Library(
        "Pydantic AI",
        "pydantic_ai",
        {
            "Tool": Role("tool", "function"),
            "FunctionToolset": Role("group", "function", "{it}.tools.values()"),
            "AbstractToolset": _GROUP,
        },
    ),
    Library("griptape", "griptape", {"BaseTool": _GROUP, "Structure": _AGENT}),
    Library("FastMCP", "fastmcp", {"FunctionTool": Role("tool", "fn"), "Tool": _TOOL, "Client": _SERVER}),
    Library("MCP", "mcp", {"Tool": _TOOL, "Server": _SERVER, "Client": _SERVER, "ClientSession": _SERVER}),
    Library("MCP", "langchain_mcp_adapters", {}),
    Library("Anthropic's SDK", "anthropic", {"BaseFunctionTool": Role("tool", "func")}),
    Library("LangGraph", "langgraph", {"ToolNode": Role("group", "", "{it}.tools_by_name.values()")}),
)
_BY_PACKAGE = {library.package: library for library in _TABLE}
_OF_MCP = re.compile("mcp", re.IGNORECASE)
# What decorators leave on a function.
_MARKS = {"__kernel_function__": "Semantic Kernel", "__fastmcp__": "FastMCP"}


def find_library(thing: Any) -> tuple[Library, Role] | None:
    """Return the library of an object or class, by the nearest base class with a role there."""
    for base in (thing if isinstance(thing, type) else type(thing)).__mro__:
        first, _, rest = base.__module__.partition(".")
        library = _BY_PACKAGE.get(first) or _BY_PACKAGE.get(f"{first}.{rest.partition('.')[0]}")
        role = None if library is None else library.roles.get(base.__name__) or _find_usual_role(base.__name__)
        if library is not None and role is not None:
            return library, role
    return None


def _find_usual_role(name: str) -> Role | None:
    if _OF_MCP.search(name):
        return _SERVER
    return _AGENT if name.endswith("Agent") else None


def find_mark(function: FunctionType) -> str | None:
    """Return the library whose decorator has marked a function, or None."""
    return next((title for mark, title in _MARKS.items() if mark in vars(function)), None)
