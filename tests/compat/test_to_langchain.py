"""A tool may be given to LangChain's models, agents and nodes in the same program: as it is, or in their form."""

from typing import Annotated, Any

import pytest
from langchain.agents import create_agent
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage as LangChainAnswer
from langchain_core.messages import HumanMessage as LangChainQuestion
from langchain_core.tools import InjectedToolCallId as LangChainCallId
from langchain_core.tools import tool as langchain_tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.prebuilt import InjectedState as GraphState
from langgraph.prebuilt import InjectedStore as GraphStore
from langgraph.prebuilt import ToolNode, create_react_agent
from langgraph.prebuilt import ToolRuntime as GraphRuntime
from langgraph.runtime import Runtime
from langgraph.store.memory import InMemoryStore
from langgraph.types import Command as GraphCommand

import sidecall

# LangChain's, for any runtime.
pytestmark = [
    pytest.mark.filterwarnings("ignore:Pydantic serializer warnings"),
    pytest.mark.filterwarnings("ignore:create_react_agent has been moved"),
]


def make_tools(tool: Any, state: Any, call_id: Any, store: Any, runtime: Any) -> list[Any]:
    """Make the same tools with the names of either library."""

    @tool
    def add(a: int, seen: Annotated[dict[str, Any], state], asked: Annotated[str, call_id], b: int = 1) -> str:
        """Add numbers."""
        last = seen["messages"][0]
        return f"{a + b} {last.content} {type(last).__name__} {asked}"

    @tool(response_format="content_and_artifact")
    def find(q: str, run: runtime) -> tuple[str, dict[str, str]]:
        """Find something."""
        return f"{q} {run.context['who']} {run.config['configurable']['thread_id']} {run.tool_call_id}", {"q": q}

    @tool
    def keep(q: str, kept: Annotated[Any, store]) -> str:
        """Keep something."""
        kept.put(("notes",), "k", {"q": q})
        return str(kept.get(("notes",), "k").value["q"])

    @tool
    def plain(text: str, when: list[int] | None = None) -> str:
        """Say it."""
        return f"{text} {when}"

    return [add, find, keep, plain]


OURS = make_tools(
    sidecall.tool,
    sidecall.InjectedState,
    sidecall.InjectedToolCallId,
    sidecall.InjectedStore(),
    sidecall.ToolRuntime,
)
THEIRS = make_tools(langchain_tool, GraphState, LangChainCallId, GraphStore(), GraphRuntime)
CALLS = [
    ("add", {"a": 1}),
    ("add", {"a": "2", "b": 3}),
    ("find", {"q": "tea"}),
    ("keep", {"q": "tea"}),
    ("plain", {"text": "hi", "when": [1]}),
]


GIVEN = pytest.mark.parametrize("give", [lambda it: it, lambda it: it.to_langchain()], ids=["as it is", "in its form"])


def ask(*calls: tuple[str, dict[str, Any]]) -> LangChainAnswer:
    """Write a model's answer that asks for calls."""
    asked: list[Any] = [
        {"name": name, "args": args, "id": f"call_{number}", "type": "tool_call"}
        for number, (name, args) in enumerate(calls)
    ]
    return LangChainAnswer("", tool_calls=asked)


class Model(FakeMessagesListChatModel):
    """Say what was written, and take tools as models do."""

    def bind_tools(self, tools: Any, **_: Any) -> Any:
        """Write their definitions."""
        assert all(convert_to_openai_tool(it)["type"] == "function" for it in tools)
        return self


def make_agent(tools: list[Any], *calls: tuple[str, dict[str, Any]], make: Any = create_agent) -> Any:
    """Make an agent whose model asks for these calls, and is done then."""
    model = Model(responses=[ask(*calls), LangChainAnswer("done")])
    return make(model, tools, store=InMemoryStore(), checkpointer=InMemorySaver(), context_schema=dict)


def read(answer: Any) -> list[Any]:
    """Read what the tools have answered."""
    return [(it.content, it.artifact, it.status, it.tool_call_id) for it in answer["messages"] if it.type == "tool"]


CONFIG: Any = {"configurable": {"thread_id": "t1"}}
QUESTION: Any = {"messages": [LangChainQuestion("hi")]}


@GIVEN
@pytest.mark.parametrize("make", [create_agent, create_react_agent], ids=["create_agent", "create_react_agent"])
@pytest.mark.parametrize("is_async", [False, True])
async def test_an_agent_runs_it_as_its_own(is_async: bool, make: Any, give: Any) -> None:
    """With state, context, config, store and the call's id; the answers are those of LangChain's own tools."""
    answers = []
    for tools in ([give(it) for it in OURS], THEIRS):
        agent = make_agent(tools, *CALLS, make=make)
        context: Any = {"who": "Ada"}
        answers.append(
            await agent.ainvoke(QUESTION, CONFIG, context=context)
            if is_async
            else agent.invoke(QUESTION, CONFIG, context=context)
        )

    assert read(answers[0]) == read(answers[1])
    assert [it[0] for it in read(answers[0])][:2] == ["2 hi HumanMessage call_0", "5 hi HumanMessage call_1"]


@GIVEN
def test_models_are_told_what_they_may_send(give: Any) -> None:
    """Nothing hidden."""
    shown = {it.name: convert_to_openai_tool(give(it))["function"] for it in OURS}

    for it in THEIRS:
        theirs = convert_to_openai_tool(it)["function"]
        assert shown[it.name]["description"] == theirs["description"]
        assert shown[it.name]["parameters"]["properties"].keys() == theirs["parameters"]["properties"].keys()


@GIVEN
@pytest.mark.parametrize("state", [QUESTION, QUESTION["messages"]], ids=["dict", "list"])
def test_a_node_runs_it(state: Any, give: Any) -> None:
    """Also one that is given messages alone."""
    node = ToolNode([give(OURS[0])])
    asked = ask(("add", {"a": 4, "seen": "forged"}))
    given = [*state, asked] if isinstance(state, list) else {"messages": [*state["messages"], asked]}

    answer = node.invoke(given, {"configurable": {"__pregel_runtime": Runtime()}})

    [message] = answer if isinstance(answer, list) else answer["messages"]
    assert message.content == "5 hi HumanMessage call_0"


@sidecall.tool
def go(to: str, call_id: Annotated[str, sidecall.InjectedToolCallId]) -> sidecall.Command:
    """Go on."""
    said = sidecall.ToolMessage(f"gone to {to}", tool_call_id=call_id)
    return sidecall.Command(update={"messages": [said]})


@sidecall.tool
def fail(n: int) -> str:
    """Fail."""
    if n == 1:
        raise sidecall.ToolException("not today")
    raise ValueError("secret")


@GIVEN
@pytest.mark.parametrize(
    ("call", "content", "status"),
    [
        (("go", {"to": "Rome"}), "gone to Rome", "success"),
        (("fail", {"n": 1}), "not today", "error"),
        (("fail", {"n": "x"}), "n: Input should be an integer", "error"),
        (("fail", {"n": 2}), "Error: fail failed unexpectedly", "error"),
    ],
)
def test_commands_and_failures_are_answered(call: Any, content: str, status: str, give: Any) -> None:
    """As over HTTP: the model never reads what a crash says."""
    answer = make_agent([give(go), give(fail)], call).invoke(QUESTION, CONFIG)

    [(said, _, how, _)] = read(answer)
    assert said.startswith(content)
    assert how == status


@sidecall.tool(requires_approval=True)
def wipe(n: int) -> str:
    """Wipe a disk."""
    return f"wiped {n}"


@sidecall.tool
async def wipe_twice(n: int) -> str:
    """Wipe it well."""
    return str(await wipe.ainvoke({"n": n}))


@GIVEN
@pytest.mark.parametrize("tool", [wipe, wipe_twice], ids=lambda it: it.name)
@pytest.mark.parametrize(
    ("said", "content", "status"),
    [
        (True, "wiped 3", "success"),
        ({"decision": "approve", "args": {"n": 4}}, "wiped 4", "success"),
        ({"decisions": [{"type": "approve"}]}, "wiped 3", "success"),
        (False, "The call was rejected.", "error"),
        ({"decision": "reject", "reason": "no"}, "The call was rejected: no", "error"),
    ],
)
async def test_a_call_that_waits_for_a_person_interrupts_the_graph(
    tool: Any, said: Any, content: str, status: str, give: Any
) -> None:
    """It goes on with what they say."""
    agent = make_agent([give(tool)], (tool.name, {"n": 3}))

    waits = await agent.ainvoke(QUESTION, CONFIG)
    answer = await agent.ainvoke(GraphCommand(resume=said), CONFIG)

    assert waits["__interrupt__"][0].value["tool_call"]["args"] == {"n": 3}
    assert [(it[0], it[2]) for it in read(answer)] == [(content, status)]


async def test_without_a_graph_it_is_called_as_any_tool() -> None:
    """Plain arguments are answered with the plain result, and nobody is there to be asked."""
    given, waiting = OURS[3].to_langchain(), wipe.to_langchain()

    assert given.invoke({"text": "a"}) == "a None"
    assert await given.ainvoke({"text": "a", "when": ["1"]}) == "a [1]"
    with pytest.raises(sidecall.ApprovalRequired):
        waiting.invoke({"type": "tool_call", "name": "wipe", "args": {"n": 1}, "id": "1"})
    with pytest.raises(ValueError, match="secret"):
        fail.to_langchain().invoke({"n": 2})
