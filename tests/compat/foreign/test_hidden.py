"""What LangChain hides from the model comes from the caller and the server."""

from dataclasses import dataclass
from typing import Annotated, Any, Optional

import pytest
from langchain_core.callbacks import CallbackManagerForToolRun
from langchain_core.runnables import RunnableConfig
from langchain_core.tools import BaseTool as LangChainBase
from langchain_core.tools import InjectedToolArg, InjectedToolCallId
from langchain_core.tools import StructuredTool as LangChainStructured
from langchain_core.tools import tool as langchain_tool
from langgraph.prebuilt import InjectedState, InjectedStore, ToolRuntime
from pydantic import BaseModel, ValidationError, model_validator, v1

import sidecall
from sidecall import StructuredTool, tool
from sidecall.features.store.item_store import ItemStore
from sidecall.features.store.memory_store import MemoryItems
from sidecall.kernel.core.errors import MissingContext
from tests.kit.calls import run


@langchain_tool
def everything(
    x: int,
    call_id: Annotated[str, InjectedToolCallId],
    state: Annotated[dict[str, Any], InjectedState],
    one: Annotated[str, InjectedState("one")],
    store: Annotated[Any, InjectedStore],
    runtime: ToolRuntime,
    user: Annotated[str, InjectedToolArg],
    config: RunnableConfig,
    mode: Annotated[str, InjectedToolArg] = "fast",
) -> str:
    """Take one of each."""
    assert runtime.store is store
    assert runtime.tool_call_id == call_id
    assert runtime.state == state
    return f"{x} {state} {one} {type(runtime).__name__} {runtime.context} {user} {config['configurable']} {mode}"


class Hidden(BaseModel):
    """Arguments of the author's own, one of them hidden."""

    x: int
    user: Annotated[str, InjectedToolArg]

    @model_validator(mode="after")
    def _refuse_ada(self) -> "Hidden":
        if self.user == "ada" and self.x == 13:
            raise ValueError("not for ada")
        return self


@langchain_tool(args_schema=Hidden)
def greet(x: int, user: str) -> str:
    """Greet."""
    return f"{x} {user}"


class OldHidden(v1.BaseModel):
    """The same in pydantic 1."""

    x: int
    user: Annotated[str, InjectedToolArg]
    mode: Annotated[str, InjectedToolArg] = "fast"


@langchain_tool(args_schema=OldHidden)
def old_greet(x: int, user: str, mode: str) -> str:
    """Greet."""
    return f"{x} {user} {mode}"


def _by_schema(x: int, me: Annotated[str, InjectedState("user")], runtime: Optional[ToolRuntime] = None) -> str:  # noqa: UP045
    return f"{x} {me} {runtime and runtime.state}"


by_schema = LangChainStructured.from_function(
    func=_by_schema,
    name="by_schema",
    description="Take what a schema says.",
    args_schema={"type": "object", "properties": {"x": {"type": "integer"}, "me": {}}, "required": ["x", "me"]},
)


class Written(LangChainBase):
    """A tool that is written as a class."""

    name: str = "written"
    description: str = "Be written as a class."

    def _run(self, x: int, user: Annotated[str, InjectedToolArg], run_manager: Any = None) -> str:
        return f"{x} {user} {run_manager is not None}"


class Forward(LangChainBase):
    """A tool whose types cannot be resolved."""

    name: str = "forward"
    description: str = "Look forward."
    args_schema: Any = Hidden

    def _run(self, x: int, user: str, other: "Missing" = None) -> str:  # type: ignore[name-defined]  # noqa: F821
        return f"{x} {user} {other}"


def _shown(made: StructuredTool) -> list[str]:
    return list(made.compiled.args_schema.flat["properties"])


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        pytest.param(
            tool(everything), "1 {'one': 'first', 'user': 'bo'} first ToolRuntime None bo {} fast", id="function"
        ),
        pytest.param(tool(greet), "1 bo", id="model"),
        pytest.param(tool(old_greet), "1 bo fast", id="model of pydantic 1"),
        pytest.param(tool(by_schema), "1 bo {'one': 'first', 'user': 'bo'}", id="JSON Schema"),
        pytest.param(tool(Written()), "1 bo True", id="class"),
        pytest.param(tool(Forward()), "1 bo None", id="unresolvable types"),
    ],
)
def test_hidden_values_are_supplied(made: StructuredTool, expected: str) -> None:
    """The model sees the others alone, and what it forges does not count."""
    forged = {"x": 1, "user": "forged", "me": "forged"}

    answer = made.invoke(forged, state={"one": "first", "user": "bo"}, store=ItemStore(MemoryItems()))

    assert (_shown(made), answer) == (["x"], expected)


def test_the_callers_context_goes_before_its_state() -> None:
    """Where LangChain says no source."""
    given = tool(greet).invoke({"x": 1}, state={"user": "of state"}, context={"user": "of context"})

    assert given == "1 of context"


@pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")  # LangChain's, for any context
def test_the_callers_context_is_the_runtimes() -> None:
    """And stands in the config."""
    answer = tool(everything).invoke(
        {"x": 1}, state={"one": "1"}, context={"user": "ada"}, store=ItemStore(MemoryItems())
    )

    assert answer == "1 {'one': '1'} 1 ToolRuntime {'user': 'ada'} ada {'user': 'ada'} fast"


@pytest.mark.parametrize(
    ("made", "beside", "expected"),
    [
        pytest.param(
            tool(greet), {}, "The tool needs `context.user` beside the call, for its parameter `user`.", id="missing"
        ),
        pytest.param(
            tool(greet),
            {"context": {"user": 3}},
            "The tool cannot use what was sent as `context.user`: Input should be a valid string.",
            id="wrong",
        ),
        pytest.param(
            tool(by_schema), {}, "The tool needs `state.user` beside the call, for its parameter `me`.", id="state"
        ),
        pytest.param(
            tool(everything),
            {"state": {"one": "1", "user": "bo"}},
            "The tool needs a store for its parameter `store`, and there is none.",
            id="store",
        ),
    ],
)
def test_what_is_missing_is_the_callers_fault(made: StructuredTool, beside: dict[str, Any], expected: str) -> None:
    """The model could not mend it."""
    with pytest.raises(MissingContext) as caught:
        made.invoke({"x": 1}, **beside)

    assert caught.value.message == expected


def test_rules_over_hidden_values_hold_before_it_runs() -> None:
    """The model reads them like any other."""
    with pytest.raises(ValidationError) as caught:
        tool(greet).invoke({"x": 13}, context={"user": "ada"})

    assert caught.value.__notes__ == ["arguments: not for ada"]


def test_our_own_context_can_be_asked_for() -> None:
    """In a function that LangChain made a tool of."""

    def ask(x: int, context: sidecall.ToolContext) -> str:
        return f"{x} {context.tool_name}"

    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    made = tool(LangChainStructured.from_function(func=ask, name="ask", description="Ask.", args_schema=schema))

    assert made.invoke({"x": 1}) == "1 ask"


@dataclass
class Elsewhere:
    """A runtime of another version, with less in it."""

    __module__ = "langgraph.somewhere"

    tool_call_id: str
    extra: int = 0


Elsewhere.__name__ = "ToolRuntime"


def test_a_runtime_gets_the_fields_that_it_has() -> None:
    """LangGraph adds and removes some."""

    def ask(x: int, runtime: Elsewhere) -> str:
        return f"{x} {runtime.tool_call_id} {runtime.extra}"

    schema = {"type": "object", "properties": {"x": {"type": "integer"}}}
    made = tool(LangChainStructured.from_function(func=ask, name="ask", description="Ask.", args_schema=schema))
    message = made.invoke({"type": "tool_call", "id": "c1", "name": "ask", "args": {"x": 1}})

    assert message.content == "1 c1 0"


class Asking(LangChainBase):
    """A class that asks for what only LangChain can fill."""

    name: str = "asking"
    description: str = "Ask."

    def _run(self, x: int, config: RunnableConfig, run_manager: CallbackManagerForToolRun | None = None) -> str:
        return f"{x} {config['configurable'].get('user')} {run_manager is not None}"


class OnlyX(BaseModel):
    """What a model may send."""

    x: int


class AskingBySchema(Asking):
    """The same with a schema."""

    args_schema: Any = OnlyX


class AskingIfThere(LangChainBase):
    """The same, where LangChain would show it to the model."""

    name: str = "asking"
    description: str = "Ask."

    def _run(self, x: int, config: Optional[RunnableConfig] = None, run_manager: Any = None) -> str:  # noqa: UP045
        return f"{x} {(config or {})['configurable'].get('user')} {run_manager is not None}"


@pytest.mark.parametrize("kind", [Asking, AskingBySchema, AskingIfThere])
async def test_a_class_gets_its_config(kind: Any) -> None:
    """Which is nobody's argument; a call that does not fit is the model's fault as ever."""
    made = tool(kind())

    assert _shown(made) == ["x"]
    assert (await run(made, {"x": 1}, context={"user": "ada"})).content == "1 ada True"
    assert (await run(made, {})).response_metadata["error"]["kind"] == "invalid_arguments"
