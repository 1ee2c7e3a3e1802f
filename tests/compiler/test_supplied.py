"""What tools of LangChain are given of their call is made of what the caller sends."""

from dataclasses import dataclass
from typing import Annotated, Any, NotRequired

import pytest
from langchain_core.messages import HumanMessage as LangChainHuman
from langchain_core.runnables import RunnableConfig as LangChainConfig
from langgraph.prebuilt import ToolRuntime as LangGraphRuntime
from pydantic import BaseModel
from typing_extensions import TypedDict

from sidecall import (
    HumanMessage,
    InjectedState,
    InjectedToolArg,
    InjectedToolCallId,
    RunnableConfig,
    ToolRuntime,
    tool,
)
from sidecall.kernel.core.errors import MissingContext, SchemaInferenceError
from tests.kit.calls import run, write_request
from tests.kit.clients import MakeClient
from tests.kit.pipelines import make_pipeline


@dataclass
class Person:
    """Who asks."""

    name: str


class Basket(TypedDict):
    """What is in the state."""

    items: list[int]
    note: NotRequired[str]


class Strict(BaseModel):
    """The state as a model."""

    items: list[int]


@tool
async def typed(runtime: ToolRuntime[Person, Basket]) -> str:
    """Read what is typed."""
    return f"{runtime.context.name} {runtime.state}"


@tool
async def modelled(runtime: ToolRuntime[Any, Strict]) -> str:
    """Read a model."""
    return str(runtime.state.items)


async def test_context_and_state_are_of_the_types_that_are_named() -> None:
    """Of a TypedDict the keys that were sent; others stay."""
    state = {"items": ["1"], "more": True}

    assert (await run(typed, state=state, context={"name": "Ada"})).content == "Ada {'items': [1], 'more': True}"
    assert (await run(typed, context={"name": "Ada"})).content == "Ada {}"
    assert (await run(modelled, state=state)).content == "[1]"


@pytest.mark.parametrize(
    ("beside", "place"),
    [
        ({"context": {}}, "context.name"),
        ({"context": {"name": "Ada"}, "state": {"items": ["x"]}}, "state.items[0]"),
    ],
)
async def test_what_does_not_fit_is_the_callers_fault(beside: Any, place: str) -> None:
    """And says where."""
    with pytest.raises(MissingContext, match=rf"`{place.replace('[', '.').replace(']', '.')}`"):
        await run(typed, **beside)


@tool
def everything(
    key: str,
    runtime: ToolRuntime,
    config: RunnableConfig | None = None,
    other: Annotated[LangChainConfig, InjectedToolArg] = None,  # type: ignore[assignment]
) -> Any:
    """Read all there is."""
    assert config is not None
    assert runtime.config["configurable"] == config["configurable"] == other["configurable"]
    return [config["tags"], config["metadata"], runtime.tool_call_id, runtime.state, runtime.tool_context.tool_name]


async def test_a_config_and_a_runtime_say_what_there_is() -> None:
    """The model sees neither, and can fill neither."""
    made = everything.model_copy(update={"tags": ["t"], "metadata": {"m": 1}})
    message = await run(made, {"key": "a", "config": {}, "runtime": 1}, state={"x": 1}, context={"user": "ada"})

    assert list(made.args) == ["key"]
    assert message.content == '[["t"], {"m": 1}, "call_1", {"x": 1}, "everything"]'
    assert message.response_metadata["ignored_args"] == ["config", "runtime"]


@pytest.mark.parametrize(("kind", "human"), [(ToolRuntime, HumanMessage), (LangGraphRuntime, LangChainHuman)])
async def test_messages_of_the_state_are_objects(kind: Any, human: Any) -> None:
    """Of the library whose ToolRuntime is asked for; what is no list of objects stays."""

    async def first(runtime: kind) -> Any:
        return [type(it) is human for it in runtime.state["messages"]]

    made = tool("first", description="First.")(first)

    assert (await run(made, state={"messages": [{"type": "human", "content": "hi"}]})).content == "[true]"
    assert (await run(made, state={"messages": ["text"]})).content == "[false]"


async def test_what_is_streamed_is_heard() -> None:
    """As progress, and as parts of the answer."""
    heard: list[Any] = []

    @tool
    async def stream(runtime: ToolRuntime) -> str:
        """Stream."""
        runtime.stream_writer("one")
        runtime.stream_writer({"two": 2})
        runtime.emit_output_delta("part")
        return "done"

    request = write_request("stream")
    request.listener = lambda kind, _, said: heard.append((kind, said.get("message", said.get("content"))))
    await make_pipeline([stream]).run(request)

    assert heard == [("progress", "one"), ("progress", '{"two": 2}'), ("partial", "part")]


async def test_names_that_langchain_fills_are_hidden() -> None:
    """Unless their type says that they are something else."""

    @tool
    def ask(callbacks, run_manager=None) -> list[str]:  # type: ignore[no-untyped-def]
        """Ask."""
        return [type(callbacks).__name__, type(run_manager).__name__]

    @tool
    def own(callbacks: list[str]) -> list[str]:
        """Take texts."""
        return callbacks

    assert (list(ask.args), list(own.args)) == ([], ["callbacks"])
    assert (await run(ask, {"callbacks": 1})).content == ["CallbackManager", "CallbackManagerForToolRun"]


@pytest.mark.parametrize("annotation", [int, list[str]])
def test_the_id_of_a_call_is_a_text(annotation: Any) -> None:
    """Which is said at the start."""

    def ask(own_id: Annotated[annotation, InjectedToolCallId]) -> None: ...

    with pytest.raises(SchemaInferenceError, match="parameter `own_id`: the id of a call is a text; write"):
        tool("ask", description="Ask.")(ask).compiled  # noqa: B018


@tool
def read_list(messages: Annotated[list, InjectedState("messages")]) -> str:  # type: ignore[type-arg]
    """Read."""
    return f"{type(messages[-1]).__name__} {messages[-1].content}"


@tool
def read_any_list(messages: Annotated[list[Any], InjectedState("messages")]) -> str:
    """Read."""
    return f"{type(messages[-1]).__name__} {messages[-1].content}"


@tool
def read_some_state(state: Annotated[dict[str, Any] | None, InjectedState] = None) -> str:
    """Read."""
    return "none" if state is None else f"{type(state['messages'][-1]).__name__} {state['messages'][-1].content}"


@pytest.mark.parametrize("reader", [read_list, read_any_list, read_some_state])
async def test_messages_that_no_type_describes_are_objects(make_client: MakeClient, reader: Any) -> None:
    """Of the whole state, of one that may be missing, and of its field."""
    client = await make_client(reader)
    body = {"name": reader.name, "args": {}, "state": {"messages": [{"role": "user", "content": "hi"}]}}

    answer = (await client.post("/tool_calls", json=body)).json()

    assert answer["content"] == "HumanMessage hi"
