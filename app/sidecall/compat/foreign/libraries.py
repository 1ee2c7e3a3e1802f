"""Libraries whose tools are recognized but not adopted: their classes, and access to their functions."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Role:
    """The role of a class: a tool, a group of tools, an MCP client, or a model runner.

    `function` is the attribute with the plain function, empty if the object is callable, None if it is not accessible;
    `each` returns the tools of a group.
    """

    kind: Literal["tool", "group", "server", "agent"]
    function: str | None = None
    each: str = "{it}"

    @property
    def is_method(self) -> bool:
        """Whether the function is a method of the same name in each tool."""
        return self.function in ("forward", "_run")


@dataclass(frozen=True, slots=True)
class Library:
    """A library: its name, the package of its classes, and their roles."""

    title: str
    package: str
    roles: Mapping[str, Role]

    def holds(self, module: str) -> bool:
        """Return whether a module belongs to this library."""
        return f"{module}.".startswith(f"{self.package}.")


_TOOL, _GROUP, _SERVER, _AGENT = Role("tool"), Role("group"), Role("server"), Role("agent")
_FUNCTIONS = Role("group", "entrypoint", "{it}.functions.values()")
_TABLE = (
    # A decorated tool of Strands is called like its function.
    Library(
        "Strands", "strands", {"DecoratedFunctionTool": Role("tool", ""), "AgentTool": _TOOL, "ToolProvider": _GROUP}
    ),
    Library("agno", "agno", {"Function": Role("tool", "entrypoint"), "Toolkit": _FUNCTIONS, "Team": _AGENT}),
    Library("phidata", "phi", {"Function": Role("tool", "entrypoint"), "Toolkit": _FUNCTIONS}),
    Library(
        "LlamaIndex",
        "llama_index",
        {
            "FunctionTool": Role("tool", "real_fn"),
            "BaseTool": _TOOL,
            "BaseToolSpec": Role("group", "real_fn", "{it}.to_tool_list()"),
        },
    ),
    # The function that `@tool` of smolagents has seen asks for a `self`.
    Library(
        "smolagents", "smolagents", {"SimpleTool": _TOOL, "Tool": Role("tool", "forward"), "ToolCollection": _GROUP}
    ),
    Library(
        "Haystack",
        "haystack",
        {
            "ComponentTool": _TOOL,
            "PipelineTool": _TOOL,
            "Tool": Role("tool", "function"),
            "Toolset": Role("group", "function"),
        },
    ),
    Library("Haystack", "haystack_integrations", {}),
    Library("DSPy", "dspy", {"Tool": Role("tool", "func"), "Module": _AGENT}),
    Library(
        "CAMEL",
        "camel",
        {"FunctionTool": Role("tool", "func"), "BaseToolkit": Role("group", "func", "{it}.get_tools()")},
    ),
    Library(
        "Pydantic AI",
        "pydantic_ai",
        {
            "Tool": Role("tool", "function"),
            "FunctionToolset": Role("group", "function", "{it}.tools.values()"),
            "AbstractToolset": _GROUP,
        },
    ),
    Library(
        "CrewAI",
        "crewai",
        {
            "Tool": Role("tool", "func"),
            "CrewStructuredTool": Role("tool", "func"),
            "BaseTool": Role("tool", "_run"),
            "Crew": _AGENT,
        },
    ),
    Library("AutoGen", "autogen_core", {"BaseTool": _TOOL, "Workbench": _GROUP}),
    Library("AutoGen", "autogen_ext", {}),
    Library("AutoGen", "autogen_agentchat", {}),
    Library(
        "Semantic Kernel",
        "semantic_kernel",
        {
            "KernelFunctionFromMethod": Role("tool", "method"),
            "KernelFunction": _TOOL,
            "KernelPlugin": Role("group", "method"),
            "Kernel": _GROUP,
        },
    ),
    Library("Agent Framework", "agent_framework", {"FunctionTool": Role("tool", "func")}),
    Library("ADK", "google.adk", {"FunctionTool": Role("tool", "func"), "BaseTool": _TOOL, "BaseToolset": _GROUP}),
    Library("BeeAI", "beeai_framework", {"Tool": _TOOL}),
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
