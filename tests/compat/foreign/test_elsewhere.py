"""Tools of libraries that are not taken over are known, and what to write in their place is said."""

from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from anthropic import beta_tool
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import ToolNode
from mcp.server import MCPServer

from sidecall import StructuredTool, Tool, tool
from sidecall.compat.foreign.unsupported_libraries import explain_elsewhere
from sidecall.kernel.core.errors import InvalidToolOption
from sidecall.loading.discovery import discover
from tests.kit.projects import names, write

OVER = "write sidecall's @tool over its function"
OVER_ALL = "write sidecall's @tool over their functions"
SERVER = "its tools are those of an MCP server; name that in SIDECALL_MCP_SERVERS"
AGENT = "it runs models, which is the program's part; its tools are offered where they have names of their own"


def add(a: int, b: int = 1) -> int:
    """Add."""
    return a + b


def _call(*args: Any, **kwargs: Any) -> Any:
    return args, kwargs


def make(*classes: str, **attributes: Any) -> Any:
    """Make an object of a class with these modules and names, the base class first, without its library."""
    made: type = object
    for written in classes:
        module, _, name = written.rpartition(".")
        made = type(name, (made,), {"__module__": module, "__call__": _call})
    it = made()
    vars(it).update(attributes)
    return it


def _said(title: str, mend: str) -> str:
    return f"it is a tool of {title}, which is not taken over; {mend}"


def _held(title: str, mend: str) -> str:
    return f"it holds tools of {title}, which are not taken over; {mend}"


# As the newest releases have them: their classes, what their objects have, and what is said.
CASES: Mapping[str, tuple[Any, str]] = {
    "strands mcp": (make("strands.tools.tool_provider.ToolProvider", "strands.tools.mcp.mcp_client.MCPClient"), SERVER),
    "strands agent": (make("strands.agent.agent.Agent"), AGENT),
    "agno mcp": (make("agno.tools.toolkit.Toolkit", "agno.tools.mcp.mcp.MCPTools"), SERVER),
    "agno team": (make("agno.team.team.Team"), AGENT),
    "llama_index agent": (make("llama_index.core.agent.workflow.function_agent.FunctionAgent"), AGENT),
    "smolagents agent": (make("smolagents.agents.MultiStepAgent", "smolagents.agents.CodeAgent"), AGENT),
    "haystack mcp": (
        make("haystack.tools.tool.Tool", "haystack_integrations.tools.mcp.mcp_tool.MCPTool", function=add),
        SERVER,
    ),
    "dspy module": (make("dspy.primitives.module.Module", "dspy.predict.react.ReAct"), AGENT),
    "pydantic_ai": (
        make("pydantic_ai.tools.Tool", function=add),
        _said("Pydantic AI", "write x_tool = tool(x.function)"),
    ),
    "pydantic_ai toolset": (
        make("pydantic_ai.toolsets.abstract.AbstractToolset", "pydantic_ai.toolsets.function.FunctionToolset"),
        _held("Pydantic AI", "write tools = [tool(one.function) for one in x.tools.values()]"),
    ),
    "pydantic_ai other": (
        make("pydantic_ai.toolsets.abstract.AbstractToolset", "mine.Own"),
        _held("Pydantic AI", OVER_ALL),
    ),
    "pydantic_ai agent": (make("pydantic_ai.agent.abstract.AbstractAgent", "pydantic_ai.agent.Agent"), AGENT),
    "crewai crew": (make("crewai.crew.Crew"), AGENT),
    "autogen mcp": (make("autogen_ext.tools.mcp._workbench.McpWorkbench"), SERVER),
    "adk agent": (make("google.adk.agents.llm_agent.LlmAgent"), AGENT),
    "griptape": (make("griptape.tools.base_tool.BaseTool", "mine.Calculator"), _held("griptape", OVER_ALL)),
    "fastmcp": (make("fastmcp.server.server.FastMCP"), SERVER),
    "fastmcp tool": (
        make("fastmcp.tools.base.Tool", "fastmcp.tools.function_tool.FunctionTool", fn=add),
        _said("FastMCP", "write x_tool = tool(x.fn)"),
    ),
    "mcp": (MCPServer("x"), SERVER),
    "anthropic": (beta_tool(add), _said("Anthropic's SDK", "write x_tool = tool(x.func)")),
    "langgraph": (
        ToolNode([langchain_tool(add)]),
        _held("LangGraph", "write tools = [tool(one) for one in x.tools_by_name.values()]"),
    ),
    "unknown": (
        make("frobnicate.core.BaseTool", "mine.Add", name="add"),
        "it seems to be a tool of frobnicate, which is not taken over; write sidecall's @tool over its function",
    ),
    "phidata": (
        make("phi.tools.function.Function", entrypoint=add),
        _said("phidata", "write x_tool = tool(x.entrypoint)"),
    ),
    "phidata toolkit": (
        make("phi.tools.toolkit.Toolkit", "mine.Kit"),
        _held("phidata", "write tools = [tool(one.entrypoint) for one in x.functions.values()]"),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_each_is_known_by_its_class(case: str) -> None:
    """And by those that this comes from; nothing is imported or called."""
    thing, said = CASES[case]

    assert explain_elsewhere(thing, "x") == said


@pytest.mark.parametrize(
    "thing",
    [
        add,
        tool(add),
        langchain_tool(add),
        print,
        None,
        "text",
        SimpleNamespace(name="x", description="X."),
        make("google.genai.client.Client"),
        make("agnostic.tools.Toolkit"),
        make("strands.types.content.Message"),
        make("mine.Tool"),
    ],
)
def test_nothing_else_is(thing: Any) -> None:
    """Not even what is called alike."""
    assert explain_elsewhere(thing, "x") is None


@pytest.mark.parametrize("case", [case for case in CASES if case != "langgraph"])
@pytest.mark.parametrize(
    "way",
    [tool, tool("name"), tool(timeout=3), StructuredTool.from_function, lambda it: tool("name", it)],
    ids=["tool", "named", "with options", "from_function", "under a name"],
)
def test_none_is_made_a_tool(case: str, way: Callable[[Any], object]) -> None:
    """The schema would be nonsense: of what it is called with its class says nothing."""
    with pytest.raises(InvalidToolOption, match="an object of this class is no function: "):
        way(CASES[case][0])


NODE = '''
from langchain_core.tools import tool
from langgraph.prebuilt import ToolNode


@tool
def add(a: int) -> int:
    """Add."""
    return a


tools = [add]
node = ToolNode(tools)
'''


def test_a_node_whose_tools_are_offered_is_not_named(here: Path) -> None:
    """It is a part of the program that the file is written for."""
    write(here / "mine.py", NODE)
    told: list[object] = []

    assert names(discover(["mine.py"], tell=told.append)) == ["add"]
    assert told == []


def test_an_object_that_takes_anything_is_none_either() -> None:
    """Though nobody has heard of its library."""
    with pytest.raises(
        InvalidToolOption, match="what it takes is not said; offer a function with parameters of its own"
    ):
        tool(make("nowhere.Action", name="act", description="Act."))

    described = tool("act", description="Act.", args_schema={"type": "object", "properties": {"a": {}}})
    assert described(make("nowhere.Action", name="act")).compiled.name == "act"
    assert Tool.from_function(make("nowhere.Action", name="act"), "act", "Act.").compiled.name == "act"


class Adder:
    """Add to a number."""

    name = "adder"
    description = "Add."

    def __call__(self, a: int, *more: int) -> int:
        """Add."""
        return a + sum(more)


def test_an_object_that_says_what_it_takes_is_a_tool() -> None:
    """As before."""
    assert tool(Adder()).invoke({"a": 1, "more": [2]}) == 3


class RunContext:
    """What phidata hands to a tool."""


RunContext.__module__ = "phi.run"


@pytest.mark.parametrize("annotation", [RunContext, "RunContext"])
def test_a_function_that_takes_what_its_library_fills_is_written_anew(annotation: Any) -> None:
    """There is nobody here to fill it."""

    def find(query: str, run_context: Any) -> str:
        return f"{query}{run_context}"

    find.__annotations__["run_context"] = annotation
    said = f"{OVER}, which takes a ToolContext of sidecall in the place of `run_context`"

    assert explain_elsewhere(make("phi.tools.function.Function", entrypoint=find), "x") == _said("phidata", said)


FILE = '''
import sys
from types import ModuleType

from sidecall import tool


class Function:
    def __init__(self, function):
        self.name, self.description, self.entrypoint = function.__name__, function.__doc__, function


class Toolkit:
    def __init__(self, *functions):
        self.functions = {it.__name__: Function(it) for it in functions}


Function.__module__, Toolkit.__module__ = "phi.tools.function", "phi.tools.toolkit"


def _add(a: int) -> int:
    """Add."""
    return a


def _double(a: int) -> int:
    """Double."""
    return 2 * a


def _mark(function):
    function.__kernel_function__ = True
    return function


'''
PHI = "it is a tool of phidata, which is not taken over;"


@pytest.mark.parametrize(
    ("text", "offered", "told"),
    [
        ("add = Function(_add)", [], [f"add is not offered: {PHI} write add_tool = tool(add.entrypoint)"]),
        (
            "tools = [Function(_add), Function(_double)]",
            [],
            [
                f"tools[0] is not offered: {PHI} offer tool(tools[0].entrypoint)",
                f"tools[1] is not offered: {PHI} offer tool(tools[1].entrypoint)",
            ],
        ),
        (
            "tools = {'a': Function(_add)}",
            [],
            [f"tools['a'] is not offered: {PHI} offer tool(tools['a'].entrypoint)"],
        ),
        (
            "add = Function(_add)\ntools = [add]",
            [],
            [f"add is not offered: {PHI} write add_tool = tool(add.entrypoint)"],
        ),
        (
            "tools = [Function(_add), tool(_double)]",
            [],
            [
                f"tools[0] is not offered: {PHI} offer tool(tools[0].entrypoint)",
                "tools holds tools that are not offered (_double), since it does not hold tools alone: take out what "
                "is none, of the class Function, or give each tool a name of its own there",
            ],
        ),
        ("add = Function(_add)\nadd_tool = tool(add.entrypoint)", ["_add"], []),
        (
            "kit = Toolkit(_add, _double)\ntools = [tool(one.entrypoint) for one in kit.functions.values()]",
            ["_add", "_double"],
            [],
        ),
        (
            "kit = Toolkit(_add, _double)\nadd = tool(_add)",
            ["_add"],
            ["kit is not offered: it holds tools of phidata, which are not taken over; write tools = [tool("],
        ),
        (
            "class Own(Toolkit):\n    pass",
            [],
            [
                "Own is not offered: it holds tools of phidata, which are not taken over; "
                "write tools = [tool(one.entrypoint) for one in Own().functions.values()]"
            ],
        ),
        (
            "@_mark\ndef find(a: int) -> int:\n    return a",
            [],
            ["find is not offered: it is a plain function, which Semantic Kernel knows; write find_tool = tool(find)"],
        ),
        (
            "class Plugin:\n    @_mark\n    def find(self, a: int) -> int:\n        return a\n\n\nplugin = Plugin()",
            [],
            ["plugin is not offered: Semantic Kernel knows its methods; write tools = [tool(plugin.find)]"],
        ),
        ("_add_too = Function(_add)\nown = tool(_double)", ["_double"], []),
    ],
)
def test_each_is_named_where_it_stands(here: Path, text: str, offered: list[str], told: list[str]) -> None:
    """By its name or its place in a list; once, and not at all where its function is offered."""
    write(here / "mine.py", FILE + text + "\n")
    heard: list[str] = []

    assert names(discover(["mine.py"], tell=lambda it: heard.append(it.text))) == offered
    assert [it[: len(one)] for it, one in zip(heard, told, strict=True)] == told
