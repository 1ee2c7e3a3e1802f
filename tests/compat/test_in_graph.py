"""Tools are given to LangChain as they are, in programs as its documentation writes them."""

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain.agents.middleware import wrap_tool_call
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool as LangChainTool
from langchain_core.tools import StructuredTool as LangChainStructuredTool
from langchain_core.tools import Tool as LangChainSingleTool
from langchain_core.tools import render_text_description
from langchain_core.tools import tool as langchain_tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, ToolRuntime
from langgraph.runtime import Runtime
from pydantic import BaseModel, Field

import sidecall
from tests.compat.test_to_langchain import Model, ask, read


class Asked(BaseModel):
    """What is asked."""

    q: str = Field(description="Words.")
    much: int = 1


SCHEMA = {"type": "object", "title": "Asked", "properties": {"q": {"type": "string"}}, "required": ["q"]}


def look(q: str, much: int = 1) -> str:
    """Look."""
    return q * much


async def look_async(q: str) -> tuple[str, list[str]]:
    """Look."""
    return q, [q]


def make_classes(base: Any, structured: Any) -> list[Any]:
    """Make tools that are classes with the names of either library."""

    class Own(base):
        """Look."""

        name: str = "own"
        description: str = "Look."

        def _run(self, q: str, run_manager: Any = None) -> str:
            return f"{self.__class__.__name__} {q}{run_manager and ''}"

    class Around(structured):
        """Look."""

        def _run(self, *args: Any, config: RunnableConfig, run_manager: Any = None, **kwargs: Any) -> Any:
            return "around " + super()._run(*args, config=config, run_manager=run_manager, **kwargs)

    return [Own(), Around(name="around", description="Look.", func=look, args_schema=Asked)]


def make_tools(tool: Any, base: Any, structured: Any, single: Any, runtime: Any) -> list[Any]:
    """Make the same tools with the names of either library."""

    def ask_runtime(q: str, runtime: runtime) -> str:
        """Ask."""
        return f"{q} {len(runtime.state['messages'])} {runtime.tool_call_id}"

    make, both = structured.from_function, "content_and_artifact"
    return [
        *make_classes(base, structured),
        make(look, name="made", description="Look.", args_schema=Asked, return_direct=True),
        make(coroutine=look_async, name="async_only", description="Look.", response_format=both),
        tool(args_schema=SCHEMA, description="Look.")(look),
        tool(ask_runtime),
        single(name="single", func=len, description="Count."),
    ]


OURS = make_tools(sidecall.tool, sidecall.BaseTool, sidecall.StructuredTool, sidecall.Tool, sidecall.ToolRuntime)
THEIRS = make_tools(langchain_tool, LangChainTool, LangChainStructuredTool, LangChainSingleTool, ToolRuntime)
ARGS = {"single": {"__arg1": "abc"}}
PAIRS = [pytest.param(*pair, id=pair[0].name) for pair in zip(OURS, THEIRS, strict=True)]


@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
def test_models_are_told_the_same(ours: Any, theirs: Any) -> None:
    """In either form of words."""
    assert convert_to_openai_tool(ours) == convert_to_openai_tool(theirs)
    if ours.name != "ask_runtime":  # It names the types of hidden parameters.
        assert render_text_description([ours]) == render_text_description([theirs])


async def run_in_node(tool: Any, is_async: bool) -> Any:
    """Run a call in a node, as a graph does."""
    node = ToolNode([tool], handle_tool_errors=False)
    state = {"messages": [HumanMessage("hi"), ask((tool.name, ARGS.get(tool.name, {"q": "a"})))]}
    config: Any = {"configurable": {"__pregel_runtime": Runtime()}}
    return await node.ainvoke(state, config) if is_async else node.invoke(state, config)


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize(("ours", "theirs"), PAIRS)
async def test_a_node_runs_each_kind(ours: Any, theirs: Any, is_async: bool) -> None:
    """LangChain's has no sync way to one that is only async; ours has."""
    expected = read(await run_in_node(theirs, is_async or theirs.name == "async_only"))
    answer = await run_in_node(ours, is_async)

    assert read(answer) == expected
    assert type(answer["messages"][0]) is ToolMessage


@pytest.mark.parametrize("tools", [OURS, THEIRS], ids=["ours", "theirs"])
def test_a_loop_of_ones_own_runs_them(tools: list[Any]) -> None:
    """What they answer goes to the model, into the state, and through a checkpoint."""
    by_name = {it.name: it for it in tools}
    model = Model(responses=[ask(("own", {"q": "a"}), ("made", {"q": "b", "much": 2})), AIMessage("done")])

    def ask_model(state: MessagesState) -> Any:
        return {"messages": [model.bind_tools(tools).invoke(state["messages"])]}

    def call_tools(state: MessagesState) -> Any:
        asked: Any = state["messages"][-1]
        return {"messages": [by_name[call["name"]].invoke(call) for call in asked.tool_calls]}

    graph = StateGraph(MessagesState)
    graph.add_node("ask", ask_model).add_node("call", call_tools).add_node("end", ask_model)
    graph.add_edge(START, "ask").add_edge("ask", "call").add_edge("call", "end")
    app = graph.compile(checkpointer=InMemorySaver(), interrupt_before=["end"])
    config: Any = {"configurable": {"thread_id": "t"}}

    app.invoke({"messages": [sidecall.HumanMessage("hi")]}, config)  # type: ignore[arg-type]
    answer = app.invoke(None, config)

    assert [it[0] for it in read(answer)] == ["Own a", "bb"]
    assert [type(it).__module__ for it in answer["messages"]] == [
        "langchain_core.messages.human",
        "langchain_core.messages.ai",
        "langchain_core.messages.tool",
        "langchain_core.messages.tool",
        "langchain_core.messages.ai",
    ]


@pytest.mark.parametrize("tools", [OURS, THEIRS], ids=["ours", "theirs"])
def test_middleware_is_given_the_tool(tools: list[Any]) -> None:
    """And may stand around a call; `return_direct` ends the loop."""
    seen: list[Any] = []

    @wrap_tool_call
    def watch(request: Any, handler: Any) -> Any:
        seen.append((request.tool.name, isinstance(request.tool, LangChainTool)))
        return handler(request)

    model = Model(responses=[ask(("made", {"q": "a"})), AIMessage("not asked")])
    answer = create_agent(model, tools, middleware=[watch]).invoke({"messages": [HumanMessage("hi")]})

    assert seen == [("made", True)]
    assert answer["messages"][-1].content == "a"


@pytest.mark.parametrize("runtime", [1, {"state": {}}, None])
def test_a_model_cannot_speak_for_the_graph(runtime: Any) -> None:
    """What it writes under that name is no argument."""
    call: Any = {"name": "own", "args": {"q": "a", "runtime_of_the_graph": runtime}, "id": "1", "type": "tool_call"}

    assert isinstance(OURS[0].invoke(call), sidecall.ToolMessage)


def test_others_are_told_of_the_tools_own_parameters() -> None:
    """It is for nodes alone that the schema of the input is what a graph fills in."""
    assert OURS[2].get_input_schema() is Asked
    assert list(OURS[5].get_input_schema().model_fields) == ["q"]


def test_agents_that_call_run_are_answered() -> None:
    """With the options that LangChain's executors give."""
    given: Any = {"verbose": False, "color": "green", "callbacks": None, "llm_prefix": "", "observation_prefix": ""}

    assert [it.run({"q": "a"}, **given) for it in (OURS[0], THEIRS[0])] == ["Own a", "Own a"]


class Kit(sidecall.BaseToolkit):
    """Group tools."""

    sign: str

    @sidecall.tool
    def mark(self, q: str, call_id: Annotated[str, sidecall.InjectedToolCallId]) -> str:
        """Mark."""
        return f"{self.sign} {q} {call_id}"


def test_the_tools_of_a_toolkit_are_given_too() -> None:
    """Bound to it."""
    model = Model(responses=[ask(("mark", {"q": "a"})), AIMessage("done")])

    answer = create_agent(model, Kit(sign="!").get_tools()).invoke({"messages": [HumanMessage("hi")]})

    assert [it[0] for it in read(answer)] == ["! a call_0"]
